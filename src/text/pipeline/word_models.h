// How a word becomes ids: the models of tokenizer.json.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/pieces.h"
#include "text/token_table.h"

namespace arion {

// Tokens by id and ids by token. Must not move once it is filled.
struct WordVocabulary {
  TokenBytes tokens;  // an id without a token has the empty one
  TokenMap ids{tokens, 0};

  WordVocabulary() = default;
  // Of tokens spelled alike the last one counts.
  explicit WordVocabulary(const std::vector<std::string>& spellings);
  std::optional<int32_t> find(std::string_view token) const;
};

// Immutable: thread-safe.
class WordModel {
 public:
  WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;
  virtual ~WordModel() = default;
  // Appends the ids of every piece. Throws Error where the model needs an unknown token and has
  // none.
  virtual void encode(const Pieces& pieces, std::vector<int32_t>& ids) const = 0;
};
using WordModelPtr = std::unique_ptr<const WordModel>;

struct WordBpeOptions {
  std::optional<std::string> unknown;  // token for characters that are none
  std::string continuing_prefix;       // of characters behind the first one of a word
  std::string end_suffix;              // of the last character of a word
  bool fuses_unknown = false;          // one unknown token for a run of such characters
  bool has_byte_fallback = false;  // tokens <0xXX> instead of the unknown one, where all are there
  bool ignores_merges = false;     // a word that is a token is taken whole
};
// Pairs of tokens, best first; of equal ones the last counts. Throws Error if one of them or what
// it makes is no token.
using MergeList = std::vector<std::pair<std::string, std::string>>;

// The vocabulary must outlive the model.
WordModelPtr make_bpe_model(const WordVocabulary& vocabulary, const MergeList& merges,
                            WordBpeOptions options);

struct UnigramOptions {
  std::optional<int32_t> unknown;
  bool has_byte_fallback = false;
};
// `scores`: one per token, natural logarithms.
WordModelPtr make_unigram_model(const WordVocabulary& vocabulary, const std::vector<double>& scores,
                                UnigramOptions options);

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string continuing_prefix = "##";
  size_t max_chars = 100;  // longer words are unknown
};
WordModelPtr make_wordpiece_model(const WordVocabulary& vocabulary,
                                  const WordPieceOptions& options);

// Every word is a token or unknown.
WordModelPtr make_word_level_model(const WordVocabulary& vocabulary, std::string unknown);

}  // namespace arion
