// Unigram, WordPiece and whole words over one vocabulary.
#include "text/pipeline/word_models.h"

#include <algorithm>

#include "base/error.h"
#include "text/pipeline/byte_tokens.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

namespace arion {
namespace {

[[noreturn]] void fail_unknown(std::string_view unknown) {
  fail(ErrorCode::bad_input,
       "the text has a word that the tokenizer does not know, and its unknown token \"{}\" is not "
       "in "
       "its vocabulary",
       unknown.substr(0, 80));
}

class UnigramModel final : public WordModel {
 public:
  UnigramModel(const WordVocabulary& vocabulary, const std::vector<double>& scores,
               UnigramOptions options)
      : vocabulary_(vocabulary),
        options_(options),
        bytes_(vocabulary),
        unigram_(make_pieces(vocabulary, scores), unknown_score(scores), Unigram::Precision::full) {
  }

  void encode(const Pieces& pieces, std::vector<int32_t>& ids) const override {
    Unigram::Lattice lattice;
    for (size_t i = 0; i < pieces.size(); ++i) {
      std::string_view unknown;  // the run of unknown characters that ends here
      unigram_.encode(pieces[i], lattice, [&](std::string_view text, int32_t id) {
        if (id < 0 || id == options_.unknown) {
          unknown = {unknown.empty() ? text.data() : unknown.data(), unknown.size() + text.size()};
          return;
        }
        if (!unknown.empty()) encode_unknown(std::exchange(unknown, {}), ids);
        ids.push_back(id);
      });
      if (!unknown.empty()) encode_unknown(unknown, ids);
    }
  }

 private:
  // From the last to the first, because Unigram keeps the first of equal pieces.
  static std::vector<Unigram::Piece> make_pieces(const WordVocabulary& vocabulary,
                                                 const std::vector<double>& scores) {
    std::vector<Unigram::Piece> pieces;
    for (int32_t id = vocabulary.tokens.size() - 1; id >= 0; --id) {
      const std::string_view text = vocabulary.tokens[id];
      if (!text.empty()) pieces.push_back({text, id, scores[static_cast<size_t>(id)]});
    }
    return pieces;
  }

  static double unknown_score(const std::vector<double>& scores) {
    constexpr double kPenalty = 10;  // SentencePiece, kUnkPenalty
    const double least = scores.empty() ? 0 : *std::min_element(scores.begin(), scores.end());
    return least - kPenalty;
  }

  void encode_unknown(std::string_view text, std::vector<int32_t>& ids) const {
    if (!options_.unknown) {
      fail(ErrorCode::bad_input,
           "the text has a character that the tokenizer does not know, and it has no unk_id");
    }
    if (const auto id = vocabulary_.find(text)) return ids.push_back(*id);
    if (!options_.has_byte_fallback || !bytes_.contains_all(text)) {
      return ids.push_back(*options_.unknown);
    }
    for (const char byte : text) ids.push_back(bytes_[byte]);
  }

  const WordVocabulary& vocabulary_;
  UnigramOptions options_;
  ByteTokens bytes_;
  Unigram unigram_;
};

class WordPieceModel final : public WordModel {
 public:
  WordPieceModel(const WordVocabulary& vocabulary, const WordPieceOptions& options)
      : options_(options),
        unknown_(vocabulary.find(options.unknown)),
        wordpiece_(make_keys(vocabulary, ""), make_keys(vocabulary, options.continuing_prefix),
                   options.max_chars) {}

  void encode(const Pieces& pieces, std::vector<int32_t>& ids) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (wordpiece_.encode(pieces[i], ids)) continue;
      if (!unknown_) fail_unknown(options_.unknown);
      ids.push_back(*unknown_);
    }
  }

 private:
  static std::vector<PrefixTrie::Key> make_keys(const WordVocabulary& vocabulary,
                                                const std::string& prefix) {
    std::vector<PrefixTrie::Key> keys;
    for (int32_t id = vocabulary.tokens.size() - 1; id >= 0; --id) {
      const std::string_view token = vocabulary.tokens[id];
      if (token.size() > prefix.size() && token.starts_with(prefix)) {
        keys.push_back({token.substr(prefix.size()), id});
      }
    }
    return keys;
  }

  WordPieceOptions options_;
  std::optional<int32_t> unknown_;
  WordPiece wordpiece_;
};

class WordLevelModel final : public WordModel {
 public:
  WordLevelModel(const WordVocabulary& vocabulary, std::string unknown)
      : vocabulary_(vocabulary), unknown_(std::move(unknown)) {}

  void encode(const Pieces& pieces, std::vector<int32_t>& ids) const override {
    const auto unknown = vocabulary_.find(unknown_);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto id = vocabulary_.find(pieces[i]);
      if (!id && !unknown) fail_unknown(unknown_);
      ids.push_back(id ? *id : *unknown);
    }
  }

 private:
  const WordVocabulary& vocabulary_;
  std::string unknown_;
};

}  // namespace

WordVocabulary::WordVocabulary(const std::vector<std::string>& spellings) {
  for (const std::string& spelling : spellings) tokens.add(spelling);
  for (int32_t id = tokens.size() - 1; id >= 0; --id) {
    if (!tokens[id].empty()) ids.add(id);
  }
}

std::optional<int32_t> WordVocabulary::find(std::string_view token) const {
  const int32_t id = ids.find(token);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

WordModelPtr make_unigram_model(const WordVocabulary& vocabulary, const std::vector<double>& scores,
                                UnigramOptions options) {
  return std::make_unique<UnigramModel>(vocabulary, scores, options);
}

WordModelPtr make_wordpiece_model(const WordVocabulary& vocabulary,
                                  const WordPieceOptions& options) {
  return std::make_unique<WordPieceModel>(vocabulary, options);
}

WordModelPtr make_word_level_model(const WordVocabulary& vocabulary, std::string unknown) {
  return std::make_unique<WordLevelModel>(vocabulary, std::move(unknown));
}

}  // namespace arion
