// Checks of texts on the command line.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace arion::app {

// Names of files and models: an empty one is mostly a shell variable that was never set, and would
// else mean the same as none.
inline CLI::Validator not_empty() {
  return {[](std::string& text) { return text.empty() ? "is empty" : std::string(); }, ""};
}

}  // namespace arion::app
