// Choosing a level.
#include "cpu/cpu_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace arion {
namespace {

TEST(CpuKernels, AnEmptyNameSelectsTheHighestLevel) {
  EXPECT_EQ(select_isa(""), supported_isa_levels().back());
}

TEST(CpuKernels, EverySupportedLevelIsSelectedByItsName) {
  ASSERT_FALSE(supported_isa_levels().empty());
  EXPECT_EQ(supported_isa_levels().front(), IsaLevel::generic);
  for (const IsaLevel level : supported_isa_levels()) EXPECT_EQ(select_isa(isa_name(level)), level);
}

TEST(CpuKernels, AnUnknownLevelIsAnErrorThatNamesTheSupportedOnes) {
  try {
    select_isa("sse9");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("sse9"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("generic"), std::string::npos);
  }
}

TEST(CpuKernels, EveryLevelRegistersTheSameOperations) {
  KernelRegistry first;
  register_cpu_kernels(first, IsaLevel::generic);
  for (const IsaLevel level : supported_isa_levels()) {
    KernelRegistry registry;
    register_cpu_kernels(registry, level);
    EXPECT_EQ(registry.kernels().size(), first.kernels().size()) << isa_name(level);
  }
}

TEST(CpuKernels, EveryLevelHasProbesOfItsLimits) {
  std::vector<std::byte> memory(3 * 4096);
  for (const IsaLevel level : supported_isa_levels()) {
    KernelRegistry registry;
    register_cpu_kernels(registry, level);
    const LimitProbes& probes = registry.limit_probes();
    for (const ActivationForm form :
         {ActivationForm::f32, ActivationForm::bf16, ActivationForm::int8}) {
      const PeakProbe& probe = probes.peak(form);
      EXPECT_GT(probe.multiply_adds, 0) << isa_name(level);
      EXPECT_STRNE(probe.instruction, "") << isa_name(level);
      probe.run(100);
    }
    for (const int streams : kReadStreams) probes.read(memory.data(), memory.size(), streams);
  }
}

}  // namespace
}  // namespace arion
