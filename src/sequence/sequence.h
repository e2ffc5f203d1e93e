// A sequence: its tokens and how much of it the model has seen.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cache/block_table.h"
#include "cache/prefix_tree.h"

namespace arion {

// Which of a run's rows produce logits.
enum class LogitsRows : uint8_t {
  none,
  last,  // the row of the last known token: what decoding needs
  all,   // every row: what evaluation needs
};

// Plain data, shared by scheduler, runner and sampler on the engine thread.
struct Sequence {
  enum class State : uint8_t { waiting, running, finished };

  uint64_t id = 0;
  State state = State::waiting;
  LogitsRows logits = LogitsRows::last;
  std::vector<TokenId> tokens;  // prompt, then output
  int prompt_tokens = 0;
  int computed = 0;            // tokens whose keys and values are final
  std::vector<BlockTable> kv;  // [groups]
  PrefixCursor prefix;         // what of it is in the prefix tree
  std::string cache_salt;      // shares a prefix only with sequences that have the same
  std::string client;          // of queues that are fair among clients
  int priority = 0;            // of queues by priority: the least goes first
  int cached_tokens = 0;       // of the prompt that were found when it first started
  int preemptions = 0;         // times its blocks were taken away
  int64_t started_us = -1;     // when it first got blocks; -1: not yet
  // Starts, is preempted and ends with this one, and has none of its own. Null: none.
  Sequence* companion = nullptr;

  int size() const { return static_cast<int>(tokens.size()); }
  int pending() const { return size() - computed; }  // tokens the model has not seen
};

}  // namespace arion
