# The shared library for a Python wheel (python/pyproject.toml), and nothing else: it may need no library that another
# machine lacks, so they are linked statically or copied beside it.
set(arion_fmt fmt::fmt-header-only)
find_library(arion_pcre2_static libpcre2-8.a)
if(arion_pcre2_static)
  set(arion_pcre2 ${arion_pcre2_static})
endif()

function(arion_install_wheel)
  # One file without links to it, which a wheel would hold as copies.
  set_property(TARGET arion_c PROPERTY VERSION)
  set_property(TARGET arion_c PROPERTY SOVERSION)
  set_target_properties(arion_c PROPERTIES INSTALL_RPATH "$ORIGIN")
  target_link_options(arion_c PRIVATE -Wl,--strip-all)
  install(TARGETS arion_c LIBRARY DESTINATION arion COMPONENT python)
  get_target_property(type simdjson::simdjson TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    install(FILES $<TARGET_FILE:simdjson::simdjson> DESTINATION arion COMPONENT python
      RENAME $<TARGET_SONAME_FILE_NAME:simdjson::simdjson>)
  else()  # else it needs libstdc++.so itself
    target_link_options(arion_c PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
