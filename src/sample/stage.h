// Named ways to narrow the choice of tokens, one file each in stages/, applied in a chosen order.
#pragma once
#include <span>
#include <string_view>

#include "sample/gumbel.h"
#include "sample/survivors.h"
#include "sequence/sampling_params.h"

namespace arion {

// The best token may be removed by XTC and typical-p only; at least one is always left.
struct Stage {
  const char* name;  // in SamplingParams::order
  bool (*is_on)(const SamplingParams& params);
  // Throws Error{bad_input} naming the allowed range.
  void (*check)(const SamplingParams& params);
  void (*apply)(Survivors& survivors, const SamplingParams& params, const SampleKey& key);
};

// All stages, by name.
std::span<const Stage* const> all_stages();

// Null if there is none of that name.
const Stage* find_stage(std::string_view name);

}  // namespace arion
