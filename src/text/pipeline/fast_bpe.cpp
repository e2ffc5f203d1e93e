// Checks that nothing but merging bytes is asked for, then hands over vocabulary and merges.
#include "text/pipeline/fast_bpe.h"

#include <algorithm>
#include <unordered_set>

#include "text/bpe.h"
#include "text/token_spelling.h"
#include "text/vocabulary.h"

namespace arion {
namespace {

bool has_all_bytes(const WordVocabulary& vocabulary) {
  for (int byte = 0; byte < 256; ++byte) {
    if (!vocabulary.find(encode_byte_alphabet(std::string(1, static_cast<char>(byte))))) {
      return false;
    }
  }
  return true;
}

// Bpe takes the first of two rules for a pair, spells a merge with a space between and does not ask
// whether its parts are tokens.
bool can_hand_over(const MergeList& merges, const WordVocabulary& vocabulary) {
  std::unordered_set<std::string> seen;
  for (const auto& [left, right] : merges) {
    const std::string merge = left + ' ' + right;
    if (!vocabulary.find(left) || !vocabulary.find(right)) return false;
    if (!vocabulary.find(left + right)) return false;
    if (!decode_byte_spelling(left) || !decode_byte_spelling(right)) return false;
    if (!seen.insert(merge).second) return false;
  }
  return !merges.empty();
}

std::unique_ptr<const TokenModel> make_fast_bpe(const std::vector<std::string>& tokens,
                                                const MergeList& merges,
                                                const std::vector<std::string>& regexes,
                                                bool ignores_merges) {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.tokens = tokens;
  for (const std::string& token : tokens) {
    // What no byte spells can be no part of a word.
    const bool is_text = !token.empty() && decode_byte_spelling(token);
    vocabulary.types.push_back(is_text ? TokenType::normal : TokenType::control);
  }
  for (const auto& [left, right] : merges) vocabulary.merges.push_back(left + ' ' + right);
  const std::vector<std::string_view> patterns(regexes.begin(), regexes.end());
  return std::make_unique<Bpe>(
      vocabulary, WordSplitter(patterns),
      BpeOptions{.symbols = SymbolKind::bytes, .ignores_merges = ignores_merges});
}

}  // namespace

void set_bpe_model(const std::vector<std::string>& tokens, const MergeList& merges,
                   WordBpeOptions options,
                   const std::optional<std::vector<std::string>>& byte_level_regexes,
                   PipelineParts& parts) {
  const bool is_plain = options.continuing_prefix.empty() && options.end_suffix.empty();
  const bool ignores_merges = options.ignores_merges;
  parts.vocabulary = std::make_unique<WordVocabulary>(tokens);
  if (byte_level_regexes && is_plain && has_all_bytes(*parts.vocabulary) &&
      can_hand_over(merges, *parts.vocabulary)) {
    parts.fast_model = make_fast_bpe(tokens, merges, *byte_level_regexes, ignores_merges);
  } else {
    parts.model = make_bpe_model(*parts.vocabulary, merges, std::move(options));
  }
}

void set_byte_level_bpe(const std::vector<std::string>& tokens, const MergeList& merges,
                        const std::vector<std::string>& regexes, bool ignores_merges,
                        PipelineParts& parts) {
  std::vector<PieceCutterPtr> cutters;
  for (const std::string& regex : regexes) {
    cutters.push_back(make_split_cutter({make_regex_pattern(regex), SplitBehavior::isolated}));
  }
  cutters.push_back(make_byte_level_cutter({.adds_prefix_space = false, .uses_regex = false}));
  parts.pre_tokenizer = make_sequence_cutter(std::move(cutters));
  parts.decoder = make_byte_level_decoder();
  set_bpe_model(tokens, merges, {.ignores_merges = ignores_merges}, regexes, parts);
}

}  // namespace arion
