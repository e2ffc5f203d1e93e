// BPE over the characters of a word, with rules by pairs of ids.
#include <algorithm>

#include "base/error.h"
#include "text/joined_pairs.h"
#include "text/merge.h"
#include "text/merge_rules.h"
#include "text/pipeline/byte_tokens.h"
#include "text/pipeline/word_models.h"
#include "text/unicode.h"

namespace arion {
namespace {

class BpeModel final : public WordModel {
 public:
  BpeModel(const WordVocabulary& vocabulary, const MergeList& merges, WordBpeOptions options)
      : vocabulary_(vocabulary),
        options_(std::move(options)),
        bytes_(vocabulary),
        rules_(merges.size()),
        can_cut_(options_.continuing_prefix.empty() && options_.end_suffix.empty()) {
    if (options_.unknown) unknown_ = vocabulary.find(*options_.unknown);
    for (size_t i = merges.size(); i-- > 0;) add_merge(merges[i], i);
  }

  void encode(const Pieces& pieces, std::vector<int32_t>& ids) const override {
    Scratch scratch;
    for (size_t i = 0; i < pieces.size(); ++i) encode_word(pieces[i], scratch, ids);
  }

 private:
  struct Scratch {
    std::vector<MergeSymbol> symbols;
    Merger merger;
  };

  // From the last rule to the first, because MergeRules keeps the first it sees of a pair.
  void add_merge(const std::pair<std::string, std::string>& merge, size_t rank) {
    const auto& [left, right] = merge;
    const std::string_view tail =
        std::string_view(right).starts_with(options_.continuing_prefix)
            ? std::string_view(right).substr(options_.continuing_prefix.size())
            : std::string_view(right);
    const std::string joined = left + std::string(tail);
    const auto left_id = find(left), right_id = find(right), id = find(joined);
    rules_.add(left_id, right_id, {static_cast<uint32_t>(rank), id});
    // A byte or the unknown token may stand for any character.
    const auto stands_for_others = [&](int32_t part) {
      return part == unknown_ || (options_.has_byte_fallback && bytes_.contains(part));
    };
    can_cut_ = can_cut_ && !stands_for_others(left_id) && !stands_for_others(right_id);
    add_joined_pairs(joined);
  }

  int32_t find(const std::string& token) const {
    if (const auto id = vocabulary_.find(token)) return *id;
    fail(ErrorCode::bad_input,
         "a merge of the tokenizer has \"{}\", which is not in its vocabulary",
         token.substr(0, 80));
  }

  void add_joined_pairs(std::string_view token) {
    std::optional<int32_t> left;
    while (!token.empty() && can_cut_) {
      const size_t length = decode_utf8(token).length;
      const auto right = vocabulary_.find(token.substr(0, length));
      if (left && right) joined_pairs_.add(*left, *right);
      left = right;
      token.remove_prefix(length);
    }
  }

  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const {
    if (word.size() > UINT32_MAX) {
      fail(ErrorCode::bad_input, "a word of {} bytes is too long to tokenize", word.size());
    }
    if (options_.ignores_merges) {
      if (const auto id = vocabulary_.find(word)) return ids.push_back(*id);
    }
    make_symbols(word, scratch.symbols);
    const auto rule = [this](const MergeSymbol& left, const MergeSymbol& right) {
      return rules_.find(left.id, right.id);
    };
    const std::vector<MergeSymbol>& symbols = scratch.symbols;
    for (size_t begin = 0; begin < symbols.size();) {
      size_t end = begin + 1;
      while (end < symbols.size() &&
             (!can_cut_ || joined_pairs_.contains(symbols[end - 1].id, symbols[end].id))) {
        ++end;
      }
      scratch.merger.symbols.assign(symbols.begin() + begin, symbols.begin() + end);
      if (end - begin > 1) scratch.merger.run(rule);
      for (const MergeSymbol& symbol : scratch.merger.symbols) ids.push_back(symbol.id);
      begin = end;
    }
  }

  // The characters of a word. Unknown ones are held back until a known one comes, as the package
  // does: bytes of the fallback overtake them.
  void make_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const {
    symbols.clear();
    std::optional<MergeSymbol> unknown;
    const auto flush = [&] {
      if (unknown) symbols.push_back(*unknown);
      unknown.reset();
    };
    std::string spelled;
    for (size_t at = 0; at < word.size();) {
      const uint32_t begin = static_cast<uint32_t>(at);
      const std::string_view c = word.substr(at, decode_utf8(word.substr(at)).length);
      at += c.size();
      const uint32_t end = static_cast<uint32_t>(at);
      const bool is_plain = can_use_plain(begin == 0, at == word.size());
      if (!is_plain) spell(c, begin == 0, at == word.size(), spelled);
      if (const auto id = vocabulary_.find(is_plain ? c : spelled)) {
        flush();
        symbols.push_back({begin, end, *id});
      } else if (options_.has_byte_fallback && bytes_.contains_all(is_plain ? c : spelled)) {
        for (const char byte : is_plain ? c : std::string_view(spelled)) {
          symbols.push_back({begin, end, bytes_[byte]});
        }
      } else if (options_.unknown) {
        if (!unknown_) {
          fail(ErrorCode::bad_input,
               "the unknown token \"{}\" is not in the tokenizer's vocabulary",
               options_.unknown->substr(0, 80));
        }
        if (unknown && options_.fuses_unknown) {
          unknown->end = end;
        } else {
          flush();
          unknown = {begin, end, *unknown_};
        }
      }
    }
    flush();
  }

  bool can_use_plain(bool is_first, bool is_last) const {
    return (is_first || options_.continuing_prefix.empty()) &&
           (!is_last || options_.end_suffix.empty());
  }
  void spell(std::string_view c, bool is_first, bool is_last, std::string& out) const {
    out.clear();
    if (!is_first) out += options_.continuing_prefix;
    out += c;
    if (is_last) out += options_.end_suffix;
  }

  const WordVocabulary& vocabulary_;
  WordBpeOptions options_;
  ByteTokens bytes_;
  std::optional<int32_t> unknown_;
  MergeRules rules_;
  JoinedPairs joined_pairs_;
  bool can_cut_;  // joined_pairs_ tells where words fall apart
};

}  // namespace

WordModelPtr make_bpe_model(const WordVocabulary& vocabulary, const MergeList& merges,
                            WordBpeOptions options) {
  return std::make_unique<BpeModel>(vocabulary, merges, std::move(options));
}

}  // namespace arion
