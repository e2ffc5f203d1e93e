// Which files a model was read from, so that what was made of them is used for no others.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/gguf.h"

namespace arion {

// One file. Its name does not count: a file that was moved is the same.
struct SourceFile {
  std::string name;
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;
  uint64_t sample = 0;  // hash of its two ends and of places between
};

struct SourceKey {
  std::vector<SourceFile> files;
  uint64_t made = 0;  // hash of what was made of other files: config.json of a folder
};

// Absent for a model that is not in files. Reads at most a mebibyte of each.
std::optional<SourceKey> read_source_key(const GgufFile& file);

// What tells `now` from `then`, for people; empty when they are of the same files.
std::string describe_change(const SourceKey& then, const SourceKey& now);

}  // namespace arion
