// Names of the files that a split GGUF model is made of.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arion {

constexpr uint64_t kMaxSplitFiles = 999;

// PREFIX-00002-of-00003.gguf
struct SplitName {
  std::string prefix;  // may begin with a folder
  uint64_t number;     // from 1
  uint64_t count;

  std::string file(uint64_t n) const;  // the name of the nth file, from 1
};

// Nothing for a name of another form.
std::optional<SplitName> parse_split_name(std::string_view file_name);

}  // namespace arion
