# These tests look into the program and run it.
target_link_libraries(test_apps PRIVATE arion_apps)
add_dependencies(test_apps arion_cli)
target_compile_definitions(test_apps PRIVATE ARION_PROGRAM="$<TARGET_FILE:arion_cli>")
