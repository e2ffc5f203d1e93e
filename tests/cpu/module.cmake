# Files include kernels, each those of one instruction set.
set_target_properties(test_cpu PROPERTIES UNITY_BUILD OFF)
