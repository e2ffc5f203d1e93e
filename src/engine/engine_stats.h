// What an engine has done and is doing, for metrics.
#pragma once
#include <cstdint>

namespace arion {

struct EngineStats {
  int running = 0, waiting = 0;                              // requests
  int kv_blocks = 0, kv_blocks_used = 0;                     // of the fullest KV group
  int64_t prefix_asked_tokens = 0, prefix_found_tokens = 0;  // of prompts
  int64_t preemptions = 0;
  int64_t steps = 0, step_tokens = 0;  // computed, by all steps
};

}  // namespace arion
