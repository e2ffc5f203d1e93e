# Files include kernels, each those of one instruction set.
set_target_properties(test_cpu PROPERTIES UNITY_BUILD OFF)
target_link_libraries(test_cpu PRIVATE arion_kernel_sanitizers)
