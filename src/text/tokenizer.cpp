// Cuts special tokens out of a text and hands the rest to the model's algorithm.
#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/bpe.h"
#include "text/end_of_generation.h"
#include "text/longest_match.h"
#include "text/normalized_model.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece.h"
#include "text/unigram_tokens.h"
#include "text/wordpiece_tokens.h"

namespace arion {
namespace {

// Offsets into a text are 32 bits wide, and SentencePiece may add a byte.
constexpr size_t kMaxTextBytes = UINT32_MAX / 2;

void check_text_size(size_t bytes) {
  if (bytes > kMaxTextBytes) {
    fail(ErrorCode::bad_input, "text of {} bytes is too long to tokenize at once, at most {} are",
         bytes, kMaxTextBytes);
  }
}

bool is_control_type(TokenType type) {
  return type == TokenType::control || type == TokenType::unknown;
}

// The ids that the trainers of these models give unless told otherwise.
void set_special_ids(Vocabulary& vocabulary) {
  const auto set = [&](std::optional<int32_t>& id, int32_t value) {
    if (!id && static_cast<size_t>(value) < vocabulary.tokens.size()) id = value;
  };
  SpecialIds& special = vocabulary.special;
  if (vocabulary.model == "llama") {
    set(special.unknown, 0);
    set(special.bos, 1);
    set(special.eos, 2);
  } else if (vocabulary.model == "t5") {
    set(special.eos, 1);
    set(special.unknown, 2);
  } else if (vocabulary.model == "bert") {
    set(special.unknown, 100);
    set(special.bos, 101);
    set(special.separator, 102);
    special.eos = special.separator;
  }
}

const PreTokenizer& pre_tokenizer_of(const Vocabulary& vocabulary) {
  return find_pre_tokenizer(vocabulary.model == "gemma4" ? "gemma4" : vocabulary.pre);
}

// gpt-oss marks its visible markers as control; users of the raw text need to see them.
void show_harmony_markers(Vocabulary& vocabulary, std::span<const int32_t> ends) {
  const auto ends_with = [&](std::string_view spelling) {
    return std::any_of(ends.begin(), ends.end(),
                       [&](int32_t id) { return vocabulary.tokens[id] == spelling; });
  };
  if (!ends_with("<|return|>") || !ends_with("<|call|>")) return;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    for (const std::string_view marker :
         {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}) {
      if (vocabulary.tokens[id] == marker) vocabulary.types[id] = TokenType::user_defined;
    }
  }
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  const std::string& model = vocabulary_.model;
  if (model != "gpt2" && model != "llama" && model != "gemma4" && model != "rwkv" &&
      model != "t5" && model != "bert") {
    fail(ErrorCode::bad_input,
         "tokenizer.ggml.model is \"{}\", a tokenizer that is not supported; supported are gpt2, "
         "llama, gemma4, rwkv, t5, bert",
         model.substr(0, 80));
  }
  validate(vocabulary_);
  set_defaults();
  model_ = make_model();
  find_specials();
}

std::unique_ptr<const TokenModel> Tokenizer::make_model() const {
  if (has_merges(vocabulary_)) {
    const PreTokenizer& pre = pre_tokenizer_of(vocabulary_);
    return std::make_unique<Bpe>(
        vocabulary_, WordSplitter(pre.regexes),
        BpeOptions{.symbols = pre.traits.symbols, .ignores_merges = pre.traits.ignores_merges});
  }
  if (vocabulary_.model == "rwkv") return std::make_unique<LongestMatch>(vocabulary_);
  if (vocabulary_.model == "t5") return std::make_unique<UnigramTokens>(vocabulary_);
  if (vocabulary_.model == "bert") return std::make_unique<WordPieceTokens>(vocabulary_);
  const bool is_normalized = !vocabulary_.precompiled_charsmap.empty() ||
                             vocabulary_.remove_extra_whitespaces.value_or(false);
  if (is_normalized) {
    return std::make_unique<NormalizedModel>(
        SpmNormalizer(vocabulary_),
        std::make_unique<SentencePiece>(vocabulary_, SpacePrefix::none));
  }
  return std::make_unique<SentencePiece>(vocabulary_,
                                         has_space_prefix_ ? SpacePrefix::add : SpacePrefix::none);
}

Tokenizer::Tokenizer(std::unique_ptr<const TextModel> model, const SpecialIds& special)
    : text_model_(std::move(model)) {
  vocabulary_.model = "tokenizer.json";
  vocabulary_.special = special;
  for (int32_t id = 0; id < text_model_->size(); ++id) {
    vocabulary_.tokens.emplace_back(text_model_->spelling(id));
    vocabulary_.types.push_back(text_model_->type(id));
    text_model_bytes_.add(is_control(id) ? spelling(id) : text_model_->decode_inside(id));
  }
  const std::vector<int32_t> around = text_model_->add_special({});
  adds_bos_ = special.bos && !around.empty() && around.front() == *special.bos;
  adds_eos_ = special.eos && !around.empty() && around.back() == *special.eos;
  has_space_prefix_ = text_model_->strips_first_space();
  end_of_generation_ = find_end_of_generation(vocabulary_);
  find_specials();
}

void Tokenizer::find_specials() {
  std::vector<SpecialMatcher::Token> specials;
  for (int32_t id = 0; id < size(); ++id) {
    // Unigram finds user-defined tokens itself, behind its normalization of the whole text.
    const bool is_cut =
        is_control(id) || (type(id) == TokenType::user_defined && vocabulary_.model != "t5");
    if (is_cut) specials.push_back({vocabulary_.tokens[id], id, is_control(id)});
  }
  specials_.emplace(specials);
}

void Tokenizer::set_defaults() {
  if (vocabulary_.types.empty()) vocabulary_.types.assign(size(), TokenType::normal);
  set_special_ids(vocabulary_);
  PreTokenizerTraits traits;
  if (has_merges(vocabulary_)) traits = pre_tokenizer_of(vocabulary_).traits;
  const std::string& model = vocabulary_.model;
  const bool is_sentencepiece = model == "llama" || model == "t5";
  adds_bos_ = vocabulary_.add_bos.value_or(model == "llama" || model == "bert" || traits.adds_bos);
  // Files of this model say no by mistake.
  if (model == "gemma4") adds_bos_ = true;
  // RoBERTa's separator is its end token.
  adds_eos_ =
      vocabulary_.add_eos.value_or(model == "t5" || model == "bert" || traits.adds_separator);
  has_space_prefix_ =
      (is_sentencepiece && vocabulary_.add_space_prefix.value_or(true)) || model == "bert";
  end_of_generation_ = find_end_of_generation(vocabulary_);
  // An end token that plain text could spell would let a user end the model's turn.
  for (const int32_t id : end_of_generation_) vocabulary_.types[id] = TokenType::control;
  show_harmony_markers(vocabulary_, end_of_generation_);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  check_text_size(text.size());
  const TextRange all = {0, text.size()};
  return encode(text, std::span(&all, options.parse_special ? 1 : 0), options);
}

std::vector<int32_t> Tokenizer::encode(std::span<const PromptPiece> pieces,
                                       EncodeOptions options) const {
  std::string text;
  std::vector<TextRange> ranges;
  for (const PromptPiece& piece : pieces) {
    const size_t begin = text.size();
    check_text_size(begin + piece.text.size());
    text += piece.text;
    if (!piece.is_template || !options.parse_special) continue;
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = text.size();
    } else {
      ranges.push_back({begin, text.size()});
    }
  }
  return encode(text, ranges, options);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text,
                                       std::span<const TextRange> control_ranges,
                                       EncodeOptions options) const {
  if (text_model_) {
    std::vector<int32_t> ids = text_model_->encode(text, control_ranges);
    return options.add_special ? text_model_->add_special(std::move(ids)) : ids;
  }
  std::vector<int32_t> ids;
  const SpecialIds& special = vocabulary_.special;
  if (options.add_special && adds_bos_ && special.bos) ids.push_back(*special.bos);
  for (size_t at = 0; at < text.size();) {
    const auto match = specials_->find(text, at, control_ranges);
    const size_t end = match.length > 0 ? match.begin : text.size();
    if (end > at) model_->encode(text.substr(at, end - at), ids);
    if (match.length > 0) ids.push_back(match.id);
    at = end + match.length;
  }
  if (options.add_special && adds_eos_ && special.eos) ids.push_back(*special.eos);
  return ids;
}

void Tokenizer::check_id(int32_t id) const {
  if (id < 0 || id >= size()) {
    fail(ErrorCode::bad_input, "token {} is not in the vocabulary, expected 0 to {}", id,
         size() - 1);
  }
}

const std::string& Tokenizer::spelling(int32_t id) const {
  check_id(id);
  return vocabulary_.tokens[id];
}

std::string_view Tokenizer::bytes(int32_t id) const {
  check_id(id);
  return text_model_ ? text_model_bytes_[id] : model_->bytes(id);
}

TokenType Tokenizer::type(int32_t id) const {
  check_id(id);
  return vocabulary_.types[id];
}

bool Tokenizer::is_control(int32_t id) const {
  return is_control_type(type(id));
}

bool Tokenizer::is_end_of_generation(int32_t id) const {
  return std::binary_search(end_of_generation_.begin(), end_of_generation_.end(), id);
}

std::optional<int32_t> Tokenizer::find_special(std::string_view spelling) const {
  const TextRange all = {0, spelling.size()};
  const auto match = specials_->find(spelling, 0, {&all, 1});
  if (match.begin != 0 || match.length == 0 || match.length != spelling.size()) return std::nullopt;
  return match.id;
}

}  // namespace arion
