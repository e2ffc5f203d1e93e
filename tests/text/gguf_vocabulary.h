// Reads the vocabulary of a GGUF file for the tests of this module.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "io/gguf.h"
#include "text/vocabulary.h"

namespace arion::test {

inline Vocabulary read_vocabulary(const std::filesystem::path& path) {
  const GgufFile file = GgufFile::open(path);
  const GgufMetadata& metadata = file.metadata();
  const auto key = [](std::string_view name) { return "tokenizer.ggml." + std::string(name); };
  const auto id = [&](std::string_view name) -> std::optional<int32_t> {
    const auto value = metadata.get_token_id(key(name));
    return value ? std::optional(static_cast<int32_t>(*value)) : std::nullopt;
  };
  Vocabulary vocabulary;
  vocabulary.model = metadata.require_string(key("model"));
  vocabulary.pre = metadata.get_string(key("pre")).value_or("");
  for (const auto token : metadata.require_strings(key("tokens"))) {
    vocabulary.tokens.emplace_back(token);
  }
  if (const auto merges = metadata.get_strings(key("merges"))) {
    vocabulary.merges.assign(merges->begin(), merges->end());
  }
  if (const auto scores = metadata.get_floats(key("scores"))) vocabulary.scores = *scores;
  if (const auto types = metadata.get_integers(key("token_type"))) {
    for (const int64_t type : *types) {
      vocabulary.types.push_back(static_cast<TokenType>(static_cast<int32_t>(type)));
    }
  }
  vocabulary.special.bos = id("bos_token_id");
  vocabulary.special.eos = id("eos_token_id");
  vocabulary.special.unknown = id("unknown_token_id");
  vocabulary.add_bos = metadata.get_bool(key("add_bos_token"));
  vocabulary.add_eos = metadata.get_bool(key("add_eos_token"));
  vocabulary.add_space_prefix = metadata.get_bool(key("add_space_prefix"));
  return vocabulary;
}

}  // namespace arion::test
