// Chooses the ISA level at run time. Built with base flags: this file runs on every processor.
#include "cpu/cpu_kernels.h"

#include <cpuid.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace arion {

// Kernel families are the files of src/cpu/kernels, compiled once per level that has its own.
#define ARION_KERNELS(isa, family)                 \
  namespace cpu::isa::family {                     \
  void register_kernels(KernelRegistry& registry); \
  }
#include "kernel_families.inc"
#undef ARION_KERNELS

namespace {

constexpr IsaLevel kLevels[] = {IsaLevel::generic, IsaLevel::avx2, IsaLevel::avxvnni,
                                IsaLevel::avx512, IsaLevel::avx512bf16};

struct Family {
  IsaLevel level;
  std::string_view name;
  void (*add)(KernelRegistry& registry);
};

constexpr Family kFamilies[] = {
#define ARION_KERNELS(isa, family) {IsaLevel::isa, #family, cpu::isa::family::register_kernels},
#include "kernel_families.inc"
#undef ARION_KERNELS
};

// Where a level takes the families from that it doesn't have itself.
IsaLevel extended_level(IsaLevel level) {
  if (level == IsaLevel::avxvnni) return IsaLevel::avx2;
  if (level == IsaLevel::avx512bf16) return IsaLevel::avx512;
  return level;
}

bool has_own(IsaLevel level, std::string_view family) {
  return std::ranges::any_of(kFamilies,
                             [&](const Family& f) { return f.level == level && f.name == family; });
}

// __builtin_cpu_supports also asks the operating system (XGETBV) whether it saves the registers.
bool is_supported(IsaLevel level) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("avx");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni") &&
                      __builtin_cpu_supports("avx512vbmi");
  // Leaf 7.1: bit 4 AVX-VNNI, bit 5 AVX512-BF16. Leaf 1 ECX bit 29: F16C.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const unsigned features = __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 ? eax : 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 29 & 1) != 0;
  switch (level) {
    case IsaLevel::generic:
      return true;
    case IsaLevel::avx2:
      return avx2 && f16c;
    case IsaLevel::avxvnni:
      return avx2 && f16c && (features >> 4 & 1) != 0;
    case IsaLevel::avx512:
      return avx512 && f16c;
    case IsaLevel::avx512bf16:
      return avx512 && f16c && (features >> 5 & 1) != 0;
  }
  return false;
}

}  // namespace

std::string_view isa_name(IsaLevel level) {
  switch (level) {
    case IsaLevel::generic:
      return "generic";
    case IsaLevel::avx2:
      return "avx2";
    case IsaLevel::avxvnni:
      return "avxvnni";
    case IsaLevel::avx512:
      return "avx512";
    case IsaLevel::avx512bf16:
      return "avx512bf16";
  }
  return "?";
}

std::span<const IsaLevel> supported_isa_levels() {
  static const std::vector<IsaLevel> levels = [] {
    std::vector<IsaLevel> found;
    std::ranges::copy_if(kLevels, std::back_inserter(found), is_supported);
    return found;
  }();
  return levels;
}

IsaLevel select_isa(std::string_view name) {
  const std::span<const IsaLevel> levels = supported_isa_levels();
  if (name.empty()) return levels.back();
  std::string supported;
  for (const IsaLevel level : levels) {
    if (isa_name(level) == name) return level;
    supported += supported.empty() ? "" : ", ";
    supported += isa_name(level);
  }
  const bool is_known =
      std::ranges::any_of(kLevels, [&](IsaLevel l) { return isa_name(l) == name; });
  fail(ErrorCode::usage, "instruction set {} {}; use one of: {}", name,
       is_known ? "is not supported by this processor" : "is not known", supported);
}

void register_cpu_kernels(KernelRegistry& registry, IsaLevel level) {
  for (const Family& family : kFamilies) {
    const bool is_inherited = family.level == extended_level(level) && !has_own(level, family.name);
    if (family.level == level || is_inherited) family.add(registry);
  }
}

}  // namespace arion
