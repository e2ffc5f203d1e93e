// The CPU backend: ISA levels and their kernels.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "backend/kernel.h"

namespace arion {

enum class IsaLevel : uint8_t { generic, avx2, avxvnni, avx512, avx512bf16 };

std::string_view isa_name(IsaLevel level);

// Levels this processor and operating system can run, ascending.
std::span<const IsaLevel> supported_isa_levels();

// The level named by `name`, or the highest supported one when it is empty.
// Throws Error{usage} naming the supported ones.
IsaLevel select_isa(std::string_view name);

// Adds the kernels of exactly one level. avxvnni and avx512bf16 are complete levels of their own.
void register_cpu_kernels(KernelRegistry& registry, IsaLevel level);

}  // namespace arion
