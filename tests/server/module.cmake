#The server is a library of its own.
target_link_libraries(test_server PRIVATE arion_server)
