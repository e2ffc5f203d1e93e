// Text to token ids and back, as the vocabulary of a model file says.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/special_matcher.h"
#include "text/text_model.h"
#include "text/token_model.h"
#include "text/token_table.h"
#include "text/vocabulary.h"

namespace arion {

struct EncodeOptions {
  bool add_special = true;    // BOS and EOS where the model wants them
  bool parse_special = true;  // spellings of control tokens become these tokens
};

// Part of a prompt. Control tokens are recognised in template parts only, so nothing a user writes
// can become one; everything else is encoded as if the parts were one text.
struct PromptPiece {
  std::string text;
  bool is_template;
};

// Immutable: thread-safe.
class Tokenizer {
 public:
  // Validates the vocabulary; throws Error.
  explicit Tokenizer(Vocabulary vocabulary);
  // A tokenizer of a Hugging Face folder. `special` names the ids its configuration gives.
  Tokenizer(std::unique_ptr<const TextModel> model, const SpecialIds& special);

  // `text` may be any bytes.
  std::vector<int32_t> encode(std::string_view text, EncodeOptions options = {}) const;
  std::vector<int32_t> encode(std::span<const PromptPiece> pieces, EncodeOptions options) const;

  int32_t size() const { return static_cast<int32_t>(vocabulary_.tokens.size()); }
  // The token as the file spells it, and the bytes it stands for; throw Error for an unknown id.
  const std::string& spelling(int32_t id) const;
  std::string_view bytes(int32_t id) const;
  TokenType type(int32_t id) const;
  // Control and unknown tokens: not part of a text.
  bool is_control(int32_t id) const;
  bool is_end_of_generation(int32_t id) const;
  std::span<const int32_t> end_of_generation() const { return end_of_generation_; }

  const SpecialIds& special() const { return vocabulary_.special; }
  // The control or user-defined token with this spelling.
  std::optional<int32_t> find_special(std::string_view spelling) const;
  bool adds_bos() const { return adds_bos_; }
  bool adds_eos() const { return adds_eos_; }
  // Whether encoding puts a space in front of text that decoding must take away.
  bool has_space_prefix() const { return has_space_prefix_; }
  // Whether it does so behind special tokens, too, not only where the text starts.
  bool prefixes_every_part() const { return text_model_ == nullptr; }
  // Null for a vocabulary of a GGUF file.
  const TextModel* text_model() const { return text_model_.get(); }
  const std::string& model() const { return vocabulary_.model; }
  const std::string& pre() const { return vocabulary_.pre; }

 private:
  void set_defaults();
  std::unique_ptr<const TokenModel> make_model() const;
  void find_specials();
  void check_id(int32_t id) const;
  std::vector<int32_t> encode(std::string_view text, std::span<const TextRange> control_ranges,
                              EncodeOptions options) const;

  Vocabulary vocabulary_;
  bool adds_bos_ = false;
  bool adds_eos_ = false;
  bool has_space_prefix_ = false;
  std::vector<int32_t> end_of_generation_;   // ascending
  std::unique_ptr<const TokenModel> model_;  // one of these two is set
  std::unique_ptr<const TextModel> text_model_;
  TokenBytes text_model_bytes_;
  std::optional<SpecialMatcher> specials_;
};

}  // namespace arion
