// Counts and ranges of the tokenizer keys, checked before anything is copied.
#include "model/vocabulary_loader.h"

#include "base/error.h"

namespace arion {
namespace {

using Key = const char*;

SpecialIds load_special_ids(const GgufMetadata& metadata) {
  SpecialIds ids;
  // Older files use the second spelling.
  auto load = [&](std::optional<int32_t>& id, Key key, Key old_key = nullptr) {
    auto value = metadata.get_token_id(key);
    if (!value && old_key != nullptr) value = metadata.get_token_id(old_key);
    if (value) id = static_cast<int32_t>(*value);
  };
  load(ids.bos, "tokenizer.ggml.bos_token_id", "tokenizer.ggml.cls_token_id");
  load(ids.eos, "tokenizer.ggml.eos_token_id");
  load(ids.eot, "tokenizer.ggml.eot_token_id");
  load(ids.eom, "tokenizer.ggml.eom_token_id");
  load(ids.unknown, "tokenizer.ggml.unknown_token_id");
  load(ids.separator, "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.separator_token_id");
  load(ids.padding, "tokenizer.ggml.padding_token_id");
  load(ids.mask, "tokenizer.ggml.mask_token_id");
  load(ids.fim_prefix, "tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id");
  load(ids.fim_suffix, "tokenizer.ggml.fim_suf_token_id", "tokenizer.ggml.suffix_token_id");
  load(ids.fim_middle, "tokenizer.ggml.fim_mid_token_id", "tokenizer.ggml.middle_token_id");
  load(ids.fim_padding, "tokenizer.ggml.fim_pad_token_id");
  load(ids.fim_repository, "tokenizer.ggml.fim_rep_token_id");
  load(ids.fim_separator, "tokenizer.ggml.fim_sep_token_id");
  return ids;
}

// Refuses absurd counts before anything is copied. The largest vocabularies have 2^18 tokens.
void check_count(const GgufMetadata& metadata, Key key) {
  constexpr uint64_t kMost = (1u << 21) - 1;
  const GgufEntry* entry = metadata.find(key);
  if (entry != nullptr && entry->count > kMost) {
    fail(ErrorCode::bad_input, "metadata key {} has {} entries, expected at most {}", key,
         entry->count, kMost);
  }
}

std::vector<std::string> copy_strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

void load_normalization(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  constexpr Key kCharsmap = "tokenizer.ggml.precompiled_charsmap";
  constexpr uint64_t kMostBytes = 16 << 20;  // the largest in use has 0.3 MB
  const GgufEntry* entry = metadata.find(kCharsmap);
  if (entry != nullptr && entry->count > kMostBytes) {
    fail(ErrorCode::bad_input, "metadata key {} has {} entries, expected at most {}", kCharsmap,
         entry->count, kMostBytes);
  }
  for (int64_t byte : metadata.get_integers(kCharsmap).value_or(std::vector<int64_t>{})) {
    vocabulary.precompiled_charsmap.push_back(static_cast<char>(byte));
  }
  vocabulary.remove_extra_whitespaces =
      metadata.get_bool("tokenizer.ggml.remove_extra_whitespaces");
}

}  // namespace

Vocabulary load_vocabulary(const GgufMetadata& metadata) {
  for (Key key : {"tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type",
                  "tokenizer.ggml.merges"}) {
    check_count(metadata, key);
  }
  Vocabulary vocabulary;
  vocabulary.model = std::string(metadata.require_string("tokenizer.ggml.model"));
  vocabulary.pre = std::string(metadata.get_string("tokenizer.ggml.pre").value_or(""));
  vocabulary.tokens = copy_strings(metadata.require_strings("tokenizer.ggml.tokens"));
  vocabulary.scores = metadata.get_floats("tokenizer.ggml.scores").value_or(std::vector<float>{});
  for (int64_t type :
       metadata.get_integers("tokenizer.ggml.token_type").value_or(std::vector<int64_t>{})) {
    if (type < 0 || type > static_cast<int64_t>(TokenType::byte)) {
      fail(ErrorCode::bad_input, "metadata key tokenizer.ggml.token_type holds {}, expected 0 to 6",
           type);
    }
    vocabulary.types.push_back(static_cast<TokenType>(type));
  }
  vocabulary.merges = copy_strings(
      metadata.get_strings("tokenizer.ggml.merges").value_or(std::vector<std::string_view>{}));
  if (has_merges(vocabulary) && !metadata.has("tokenizer.ggml.merges")) {
    fail(
        ErrorCode::bad_input,
        "metadata key tokenizer.ggml.merges is missing, BPE (model \"{}\") needs it, if only empty",
        vocabulary.model);
  }
  vocabulary.special = load_special_ids(metadata);
  vocabulary.add_bos = metadata.get_bool("tokenizer.ggml.add_bos_token");
  vocabulary.add_eos = metadata.get_bool("tokenizer.ggml.add_eos_token");
  vocabulary.add_space_prefix = metadata.get_bool("tokenizer.ggml.add_space_prefix");
  if (vocabulary.model == "t5") load_normalization(metadata, vocabulary);
  return vocabulary;
}

}  // namespace arion
