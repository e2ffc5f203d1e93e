// A tokenizer put together from the parts that tokenizer.json names.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalizer.h"
#include "text/piece_cutter.h"
#include "text/pipeline/added_tokens.h"
#include "text/pipeline/decoders.h"
#include "text/pipeline/post_processor.h"
#include "text/pipeline/word_models.h"
#include "text/text_model.h"
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

class Pipeline final : public TextModel {
 public:
  // Throws Error if the post-processor adds what is no token.
  explicit Pipeline(PipelineParts parts);

  std::vector<int32_t> encode(std::string_view text,
                              std::span<const TextRange> control_ranges) const override;
  std::vector<int32_t> add_special(std::vector<int32_t> ids) const override;
  std::string decode(std::span<const int32_t> ids, bool shows_control) const override;
  std::string decode_inside(int32_t id) const override;
  bool strips_first_space() const override;
  int32_t size() const override { return size_; }
  std::string_view spelling(int32_t id) const override;
  // Special added tokens are control tokens, and so is what is spelled as one.
  TokenType type(int32_t id) const override;

 private:
  void check_post_processor() const;
  void encode_text(std::string_view text, bool starts_text, bool finds_special,
                   std::vector<int32_t>& ids) const;
  void encode_words(std::string_view text, bool starts_text, std::vector<int32_t>& ids) const;
  bool is_special(int32_t id) const { return added_tokens_.is_special(spelling(id)); }

  PipelineParts parts_;
  AddedTokens added_tokens_;
  int32_t size_;
};

}  // namespace arion
