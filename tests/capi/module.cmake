# Over the shared library; what only the static one has (making models) comes from there.
# As strict as C gets: the header must be C.
add_library(arion_c_client OBJECT capi/c_client.c)
target_compile_options(arion_c_client PRIVATE -std=c11 -pedantic -Wall -Wextra -Werror)
target_link_libraries(arion_c_client PRIVATE arion_c)
target_link_libraries(test_capi PRIVATE arion_c arion_c_client)
# The shared library does not export it.
target_sources(test_capi PRIVATE ${PROJECT_SOURCE_DIR}/src/capi/engine_options.cpp)
if(NOT ARION_SANITIZE)
  add_test(NAME capi.TheLibraryExportsItsFunctionsAlone
    COMMAND sh -c "nm -D --defined-only '$<TARGET_FILE:arion_c>' | grep ' arion_version$' && ! nm -D --defined-only '$<TARGET_FILE:arion_c>' | grep -v ' T arion_'")
endif()
# The Python package, over the same library.
find_program(ARION_PYTHON python3)
if(ARION_PYTHON AND NOT ARION_SANITIZE)
  add_test(NAME python.ThePackageAnswersAsTheLibraryDoes
    COMMAND ${ARION_PYTHON} -B -W error -m unittest discover -s ${PROJECT_SOURCE_DIR}/python/tests -p *_test.py)
  set_tests_properties(python.ThePackageAnswersAsTheLibraryDoes PROPERTIES TIMEOUT 600
    ENVIRONMENT "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;ARION_LIBRARY=$<TARGET_FILE:arion_c>")
endif()
