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

# What sanitizers leave out of kernels, so that none compiles for minutes: stack use after scope and checks of every pointer
# in all levels, and UBSan in the vector levels, which are the generic sources with intrinsics. Libraries, because their options
# then come behind -fsanitize.
set(arion_no_pointer_checks -fno-sanitize=null,alignment,pointer-overflow,object-size)
add_library(arion_kernel_sanitizers INTERFACE)
add_library(arion_vector_sanitizers INTERFACE)
if(ARION_SANITIZE MATCHES address)
  target_compile_options(arion_kernel_sanitizers INTERFACE -fno-sanitize-address-use-after-scope)
endif()
if(ARION_SANITIZE MATCHES undefined)
  target_compile_options(arion_kernel_sanitizers INTERFACE ${arion_no_pointer_checks})
  target_compile_options(arion_vector_sanitizers INTERFACE -fno-sanitize=undefined)
endif()

# Compiles kernel families, the files of src/cpu/kernels, for one instruction set, in its own namespace:
# arion_add_kernels(ISA [FAMILIES NAME...] [OPTIONS OPTION...]). Without FAMILIES all of them; a level with some takes the
# others from the level it extends (src/cpu/cpu_kernels.cpp).
function(arion_add_kernels isa)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FAMILIES;OPTIONS")
  file(GLOB sources CONFIGURE_DEPENDS src/cpu/kernels/*.cpp)
  if(arg_FAMILIES)
    list(TRANSFORM arg_FAMILIES PREPEND src/cpu/kernels/ OUTPUT_VARIABLE sources)
    list(TRANSFORM sources APPEND .cpp)
  endif()
  add_library(arion_kernels_${isa} OBJECT ${sources})
  set_target_properties(arion_kernels_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD OFF)  # the sources are long, and alike
  target_link_libraries(arion_kernels_${isa} PRIVATE arion_options arion_kernel_sanitizers)
  if(NOT isa STREQUAL generic)
    target_link_libraries(arion_kernels_${isa} PRIVATE arion_vector_sanitizers)
  endif()
  target_include_directories(arion_kernels_${isa} PRIVATE src)
  target_compile_definitions(arion_kernels_${isa} PRIVATE ARION_ISA=${isa} ARION_ISA_${isa}=1)
  target_compile_options(arion_kernels_${isa} PRIVATE ${arg_OPTIONS})
  target_sources(arion PRIVATE $<TARGET_OBJECTS:arion_kernels_${isa}>)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM family)
    set_property(GLOBAL APPEND_STRING PROPERTY arion_kernel_families "ARION_KERNELS(${isa}, ${family})\n")
  endforeach()
endfunction()

# Writes the list of what arion_add_kernels compiled.
function(arion_generate_kernel_list)
  get_property(list GLOBAL PROPERTY arion_kernel_families)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/kernel_families.inc CONTENT "${list}")
endfunction()
