#pragma once
#include <gtest/gtest.h>

#include <string>

#include "quant/weight_format.h"

namespace arion::test {

// Names the tests of a suite over all formats.
inline std::string format_name(const testing::TestParamInfo<const WeightFormat*>& info) {
  return std::string(info.param->name());
}

}  // namespace arion::test
