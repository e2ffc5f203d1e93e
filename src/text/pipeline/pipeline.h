// A tokenizer put together from the parts that tokenizer.json names.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/added_tokens.h"
#include "text/pipeline/decoders.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/post_processor.h"
#include "text/pipeline/pre_tokenizers.h"
#include "text/pipeline/word_models.h"
#include "text/token_model.h"

namespace arion {

// What a pipeline is made of; null pointers stand for parts that do nothing.
struct PipelineParts {
  std::unique_ptr<const WordVocabulary> vocabulary;  // without added tokens
  std::vector<AddedToken> added_tokens;
  NormalizerPtr normalizer;
  PieceCutterPtr pre_tokenizer;
  WordModelPtr model;
  // Does the work of pre-tokenizer and model at once, if there is such a class for them.
  std::unique_ptr<const TokenModel> fast_model;
  PostProcessor post_processor;
  DecoderPtr decoder;
};

// Immutable: thread-safe.
class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts);

  // The ids of `text`, any bytes. Special added tokens are found inside `control_ranges` only.
  std::vector<int32_t> encode(std::string_view text,
                              std::span<const TextRange> control_ranges) const;
  // Puts the tokens of the post-processor around ids.
  std::vector<int32_t> add_special(std::vector<int32_t> ids) const;

  // The text of ids. Ids that are no token are skipped, special ones unless `shows_special`.
  std::string decode(std::span<const int32_t> ids, bool shows_special) const;
  // What a token adds to a text when it is neither the first nor the last one.
  std::string decode_inside(int32_t id) const;
  bool strips_first_space() const;

  // One more than the highest id.
  int32_t size() const { return size_; }
  // Empty if `id` is no token.
  std::string_view spelling(int32_t id) const;
  std::span<const AddedToken> added_tokens() const { return added_tokens_.tokens(); }
  // Whether the token is spelled as a special added token.
  bool is_special(int32_t id) const;

 private:
  void encode_text(std::string_view text, bool starts_text, bool finds_special,
                   std::vector<int32_t>& ids) const;
  void encode_words(std::string_view text, bool starts_text, std::vector<int32_t>& ids) const;

  PipelineParts parts_;
  AddedTokens added_tokens_;
  int32_t size_;
};

}  // namespace arion
