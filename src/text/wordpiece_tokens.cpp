// Normalize, cut at white space and punctuation, longest tokens first.
#include "text/wordpiece_tokens.h"

#include "text/token_spelling.h"

namespace arion {
namespace {

constexpr size_t kMaxChars = 100;  // of a word, as in the files of Hugging Face

}  // namespace

WordPieceTokens::WordPieceTokens(const Vocabulary& vocabulary)
    : normalizer_(make_bert_normalizer({})),
      cutter_(make_bert_cutter()),
      unknown_(vocabulary.special.unknown) {
  for (const std::string& token : vocabulary.tokens) bytes_.add(spaces_from_underscores(token));
  std::vector<PrefixTrie::Key> starts, continuations;
  for (int32_t id = 0; id < bytes_.size(); ++id) {
    const TokenType type = vocabulary.type(id);
    const std::string_view text = bytes_[id];
    if (type == TokenType::control || type == TokenType::unknown || text.empty()) continue;
    if (text[0] != ' ') {
      continuations.push_back({text, id});
    } else if (text.size() > 1) {
      starts.push_back({text.substr(1), id});
    }
  }
  wordpiece_.emplace(std::move(starts), std::move(continuations), kMaxChars);
}

void WordPieceTokens::encode(std::string_view text, std::vector<int32_t>& ids) const {
  Pieces pieces;
  pieces.text = text;
  normalizer_->apply(pieces.text);
  pieces.ranges = {{0, pieces.text.size(), true}};
  cutter_->apply(pieces);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!wordpiece_->encode(pieces[i], ids) && unknown_) ids.push_back(*unknown_);
  }
}

}  // namespace arion
