# What `cmake --install` copies of the C interface: library, headers and a pkg-config file.
# Optional: who builds the program alone can still install it.
install(TARGETS arion_c OPTIONAL)
install(DIRECTORY include/arion DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Relative, so that the prefix may be chosen when installing.
file(RELATIVE_PATH arion_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/arion.pc.in arion.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/arion.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
