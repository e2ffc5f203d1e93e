# One registration list per folder: a new file is picked up without touching another file.
function(arion_generate_registry folder name)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${folder}/*.cpp)
  set(list "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    string(APPEND list "ARION_ENTRY(${stem})\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}.inc CONTENT "${list}")
endfunction()

# Vector levels are the generic sources with intrinsics. With UBSan beside ASan one of their files compiles for minutes,
# so UBSan watches the generic level only. A library, because its options then come behind -fsanitize.
add_library(arion_vector_sanitizers INTERFACE)
if(ARION_SANITIZE MATCHES undefined)
  target_compile_options(arion_vector_sanitizers INTERFACE -fno-sanitize=undefined)
endif()

# Compiles src/cpu/kernels/*.cpp once for one instruction set, in its own namespace.
function(arion_add_kernels isa)
  file(GLOB kernel_sources CONFIGURE_DEPENDS src/cpu/kernels/*.cpp)
  if(NOT kernel_sources)
    return()
  endif()
  add_library(arion_kernels_${isa} OBJECT ${kernel_sources})
  target_link_libraries(arion_kernels_${isa} PRIVATE arion_options)
  if(NOT isa STREQUAL generic)
    target_link_libraries(arion_kernels_${isa} PRIVATE arion_vector_sanitizers)
  endif()
  target_include_directories(arion_kernels_${isa} PRIVATE src)
  target_compile_definitions(arion_kernels_${isa} PRIVATE ARION_ISA=${isa} ARION_ISA_${isa}=1)
  target_compile_options(arion_kernels_${isa} PRIVATE ${ARGN})
  target_sources(arion PRIVATE $<TARGET_OBJECTS:arion_kernels_${isa}>)
endfunction()
