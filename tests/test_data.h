// Where tests find data: the small part in this tree, and the corpus named by ARION_TEST_DATA.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace arion::test {

// Whether sanitizers make everything several times slower.
inline constexpr bool kIsSanitized = ARION_SANITIZED;

inline std::filesystem::path source_dir() {
  return ARION_SOURCE_DIR;
}

// A small model with random weights.
inline std::string tiny(const std::string& architecture = "llama") {
  return (source_dir() / "tests/golden/model" / (architecture + ".gguf")).string();
}

// The folder holding data/ and cases/; may not exist, see ARION_REQUIRE_CORPUS.
inline std::filesystem::path corpus_dir() {
  const char* set = std::getenv("ARION_TEST_DATA");
  return set != nullptr ? set : ARION_DEFAULT_TEST_DATA;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace arion::test

// Skips the test when a corpus file is not there.
#define ARION_REQUIRE_CORPUS(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no test data at " << (path)
