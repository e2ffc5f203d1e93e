// Reading all of standard input.
#pragma once
#include <cstdio>
#include <string>

#include "base/error.h"

namespace arion::app {

// Every byte until the end, unchanged. Throws Error{failed} when reading fails.
inline std::string read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, stdin)) text.append(buffer, got);
  if (std::ferror(stdin) != 0) fail(ErrorCode::failed, "cannot read standard input");
  return text;
}

}  // namespace arion::app
