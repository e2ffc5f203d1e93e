// Where a text begins once its start has been replaced, as the tokenizers package 0.21.4 sees it.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/pipeline/configured.h"
#include "text/pipeline/other_files.h"

namespace arion {
namespace {

using nlohmann::json;

std::vector<int32_t> ids(const char* pattern, const char* content, const char* text) {
  const json file = {
      {"normalizer",
       {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}}},
      {"pre_tokenizer",
       {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}, {"split", true}}},
      {"model",
       {{"type", "BPE"},
        {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}, {"x", 3}, {"▁", 4}}},
        {"merges", json::array()}}}};
  return make_tokenizer(read_tokenizer_json(file.dump(), "tokenizer.json"), {}).encode(text);
}

TEST(ReplaceNormalizer, KeepsTheStartOfATextWhereItReplacesOneCharacter) {
  EXPECT_EQ(ids("a", "x", "abc"), (std::vector<int32_t>{4, 3, 1, 2}));
  EXPECT_EQ(ids("ab", "x", "abc"), (std::vector<int32_t>{3, 2}));
  EXPECT_EQ(ids("a", "", "abc"), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(ids("bc", "x", "abc"), (std::vector<int32_t>{4, 0, 3}));
}

}  // namespace
}  // namespace arion
