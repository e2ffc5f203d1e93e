// BPE (Sennrich et al. 2016, over bytes as in GPT-2): construction of the rules and encoding.
#include "text/bpe.h"

#include <utility>

#include "text/token_spelling.h"
#include "text/unicode.h"

namespace arion {
namespace {

bool is_text_token(TokenType type) {
  using enum TokenType;
  return type == normal || type == undefined || type == unused;
}

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, WordSplitter splitter, BpeOptions options)
    : splitter_(std::move(splitter)),
      options_(options),
      token_count_(static_cast<int32_t>(vocabulary.tokens.size())),
      map_(bytes_, vocabulary.tokens.size()),
      unknown_(vocabulary.special.unknown) {
  add_tokens(vocabulary);
  add_byte_symbols(vocabulary);
  add_merges(vocabulary.merges);
}

void Bpe::add_tokens(const Vocabulary& vocabulary) {
  for (int32_t id = 0; id < token_count_; ++id) {
    const std::string& token = vocabulary.tokens[id];
    const TokenType type = vocabulary.type(id);
    if (type == TokenType::byte && options_.symbols != SymbolKind::bytes) {
      bytes_.add(std::string(1, static_cast<char>(*parse_byte_token(token))));
    } else {
      bytes_.add(is_text_token(type) ? decode_spelling(token) : token);
    }
  }
  const auto add_all = [&](auto wanted) {
    for (int32_t id = 0; id < token_count_; ++id) {
      if (wanted(vocabulary.type(id)) && !bytes_[id].empty()) map_.add(id);
    }
  };
  add_all(is_text_token);
  add_all([](TokenType type) { return type == TokenType::user_defined; });
}

void Bpe::add_byte_symbols(const Vocabulary& vocabulary) {
  if (options_.symbols == SymbolKind::bytes) {
    for (int byte = 0; byte < 256; ++byte) {
      byte_symbols_[byte] = intern(std::string(1, static_cast<char>(byte)));
      drops_bytes_ |= byte_symbols_[byte] >= token_count_;
    }
    return;
  }
  byte_symbols_.fill(kNoToken);
  for (int32_t id = token_count_ - 1; id >= 0; --id) {
    if (vocabulary.type(id) != TokenType::byte) continue;
    byte_symbols_[*parse_byte_token(vocabulary.tokens[id])] = id;
  }
}

std::string Bpe::decode_spelling(std::string_view spelled) const {
  switch (options_.symbols) {
    case SymbolKind::bytes:
      return decode_byte_alphabet(spelled);
    case SymbolKind::visible_spaces:
      return spaces_from_underscores(spelled);
    case SymbolKind::characters:
    case SymbolKind::no_white_space:
      break;
  }
  return std::string(spelled);
}

int32_t Bpe::intern(const std::string& bytes) {
  int32_t symbol = map_.find(bytes);
  if (symbol == kNoToken) {
    symbol = bytes_.add(bytes);
    map_.add(symbol);
  }
  return symbol;
}

void Bpe::add_merges(const std::vector<std::string>& merges) {
  std::vector<MergeHistory::Rule> rules;
  rules.reserve(merges.size());
  for (const std::string_view merge : merges) {
    const size_t space = merge.find(' ', 1);
    const std::string left = decode_spelling(merge.substr(0, space));
    const std::string right = decode_spelling(merge.substr(space + 1));
    rules.push_back({intern(left), intern(right), intern(left + right)});
  }
  if (options_.symbols == SymbolKind::bytes) {
    search_ = BacktrackingBpe::make(bytes_, byte_symbols_, rules);
    if (search_) return;
  }
  rules_.emplace(rules.size());
  for (size_t rank = 0; rank < rules.size(); ++rank) {
    const auto [left, right, result] = rules[rank];
    rules_->add(left, right, {static_cast<uint32_t>(rank), result});
  }
}

void Bpe::encode(std::string_view text, std::vector<int32_t>& ids) const {
  std::string spaced;
  if (options_.symbols == SymbolKind::visible_spaces) {
    spaced = spaces_from_underscores(text);
    text = spaced;
  }
  std::vector<Word> words;
  splitter_.split(text, words);
  Scratch scratch;
  WordCache cache(text.size());
  for (const Word range : words) {
    const std::string_view word = text.substr(range.begin, range.end - range.begin);
    if (word.size() == 1 && options_.symbols == SymbolKind::bytes) {
      const int32_t symbol = byte_symbols_[static_cast<uint8_t>(word[0])];
      if (symbol < token_count_) ids.push_back(symbol);
      continue;
    }
    const uint64_t hash = map_.hash(word);
    if (cache.append(word, hash, ids)) continue;
    const size_t first = ids.size();
    encode_word(word, hash, scratch, ids);
    cache.put(word, hash, std::span(ids).subspan(first));
  }
}

void Bpe::encode_word(std::string_view word, uint64_t hash, Scratch& scratch,
                      std::vector<int32_t>& ids) const {
  int32_t whole = map_.find(word, hash);
  if (whole >= token_count_) whole = kNoToken;
  if (whole != kNoToken && is_taken_whole(word)) return ids.push_back(whole);
  if (search_) {
    const std::string_view kept = drops_bytes_ ? drop_bytes(word, scratch.kept_bytes) : word;
    if (kept.empty()) return;
    if (whole != kNoToken && kept.size() == word.size() && search_->is_symbol(whole)) {
      return ids.push_back(whole);
    }
    if (bytes_.size() == token_count_) return search_->encode(kept, scratch.search, ids);
    scratch.strings.clear();
    search_->encode(kept, scratch.search, scratch.strings);
    for (const int32_t symbol : scratch.strings) {
      if (symbol < token_count_) {
        ids.push_back(symbol);
      } else {
        emit(bytes_[symbol], symbol, ids);
      }
    }
    return;
  }
  std::vector<MergeSymbol>& symbols = scratch.merger.symbols;
  symbols.clear();
  add_symbols(word, symbols);
  scratch.merger.run([this](const MergeSymbol& left, const MergeSymbol& right) {
    return rules_->find(left.id, right.id);
  });
  for (const MergeSymbol& symbol : symbols) {
    emit(word.substr(symbol.begin, symbol.end - symbol.begin), symbol.id, ids);
  }
}

// Vocabularies with visible spaces have runs of line ends that no merge makes.
bool Bpe::is_taken_whole(std::string_view word) const {
  return options_.ignores_merges ||
         (options_.symbols == SymbolKind::visible_spaces && word[0] == '\n');
}

// A byte that is no token is dropped before merging, so that its neighbours meet: what the
// tokenizers package does, with which models were trained.
std::string_view Bpe::drop_bytes(std::string_view word, std::string& kept) const {
  kept.clear();
  for (const char c : word) {
    if (byte_symbols_[static_cast<uint8_t>(c)] < token_count_) kept += c;
  }
  return kept;
}

void Bpe::add_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const {
  if (options_.symbols == SymbolKind::bytes) {
    for (uint32_t i = 0; i < word.size(); ++i) {
      const int32_t symbol = byte_symbols_[static_cast<uint8_t>(word[i])];
      if (symbol < token_count_) symbols.push_back({i, i + 1, symbol});
    }
    return;
  }
  for (uint32_t at = 0; at < word.size();) {
    const Utf8Char c = decode_utf8(word.substr(at));
    const bool is_dropped = options_.symbols == SymbolKind::no_white_space &&
                            (unicode_flags(c.code_point) & kSpace) != 0;
    if (!is_dropped) symbols.push_back({at, at + c.length, map_.find(word.substr(at, c.length))});
    at += c.length;
  }
}

// A symbol that is no token falls apart into its bytes; without tokens for those it is unknown.
void Bpe::emit(std::string_view text, int32_t symbol, std::vector<int32_t>& ids) const {
  if (symbol != kNoToken && symbol < token_count_) {
    ids.push_back(symbol);
    return;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const int32_t id = byte_symbols_[static_cast<uint8_t>(text[i])];
    if (id != kNoToken && id < token_count_) {
      ids.push_back(id);
    } else if (options_.symbols != SymbolKind::bytes && unknown_ && i == 0) {
      ids.push_back(*unknown_);
    }
  }
}

}  // namespace arion
