// Byte-level BPE (Sennrich et al. 2016, as in GPT-2): construction of the rules and encoding.
#include "text/bpe.h"

#include <bit>

#include "base/check.h"
#include "text/unicode.h"

namespace arion {
namespace {

constexpr uint64_t kNoPair = UINT64_MAX;

uint64_t pair_key(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

// GPT-2 spells printable Latin-1 bytes as themselves and the other 68, in order, as U+0100...
bool spells_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// Byte for each code point below U+0144, -1 where the alphabet has none.
constexpr int kAlphabetEnd = 256 + 68;
std::array<int16_t, kAlphabetEnd> make_alphabet() {
  std::array<int16_t, kAlphabetEnd> alphabet;
  alphabet.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    alphabet[spells_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

bool is_text_token(TokenType type) {
  using enum TokenType;
  return type == normal || type == undefined || type == unused;
}

}  // namespace

std::string decode_byte_alphabet(std::string_view spelled) {
  static const std::array<int16_t, kAlphabetEnd> alphabet = make_alphabet();
  std::string bytes;
  while (!spelled.empty()) {
    const Utf8Char c = decode_utf8(spelled);
    if (c.is_valid && c.code_point < kAlphabetEnd && alphabet[c.code_point] >= 0) {
      bytes.push_back(static_cast<char>(alphabet[c.code_point]));
    } else {
      bytes.append(spelled.substr(0, c.length));
    }
    spelled.remove_prefix(c.length);
  }
  return bytes;
}

Bpe::Bpe(const Vocabulary& vocabulary, const PreTokenizer& pre_tokenizer)
    : pre_tokenizer_(pre_tokenizer),
      token_count_(static_cast<int32_t>(vocabulary.tokens.size())),
      map_(bytes_, vocabulary.tokens.size()),
      rules_(std::bit_ceil(2 * vocabulary.merges.size() + 2), Rule{kNoPair, {}}),
      rules_shift_(64 - std::countr_zero(rules_.size())),
      known_words_(vocabulary.tokens.size()) {
  const size_t count = vocabulary.tokens.size();
  for (size_t id = 0; id < count; ++id) {
    const std::string& token = vocabulary.tokens[id];
    bytes_.add(is_text_token(vocabulary.type(id)) ? decode_byte_alphabet(token) : token);
  }
  const auto add_all = [&](auto wanted) {
    for (size_t id = 0; id < count; ++id) {
      if (wanted(vocabulary.type(id)) && !bytes_[static_cast<int32_t>(id)].empty()) {
        map_.add(static_cast<int32_t>(id));
      }
    }
  };
  add_all(is_text_token);
  add_all([](TokenType type) { return type == TokenType::user_defined; });
  for (int byte = 0; byte < 256; ++byte) {
    byte_symbols_[byte] = intern(std::string(1, static_cast<char>(byte)));
  }
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string& merge = vocabulary.merges[rank];
    const size_t space = merge.find(' ', 1);
    const std::string left = decode_byte_alphabet(std::string_view(merge).substr(0, space));
    const std::string right = decode_byte_alphabet(std::string_view(merge).substr(space + 1));
    add_merge(intern(left), intern(right), {static_cast<uint32_t>(rank), intern(left + right)});
  }
}

int32_t Bpe::intern(const std::string& bytes) {
  int32_t symbol = map_.find(bytes);
  if (symbol == kNoToken) {
    symbol = bytes_.add(bytes);
    map_.add(symbol);
  }
  return symbol;
}

// Keeps the first, lowest rank of a pair that is listed twice.
void Bpe::add_merge(int32_t left, int32_t right, Merge merge) {
  const uint64_t pair = pair_key(left, right);
  size_t at = pair * 0x9E3779B97F4A7C15 >> rules_shift_;
  while (rules_[at].pair != kNoPair && rules_[at].pair != pair) at = (at + 1) & (rules_.size() - 1);
  if (rules_[at].pair == kNoPair) rules_[at] = {pair, merge};
}

Merge Bpe::find_merge(int32_t left, int32_t right) const {
  const uint64_t pair = pair_key(left, right);
  size_t at = pair * 0x9E3779B97F4A7C15 >> rules_shift_;
  while (rules_[at].pair != kNoPair) {
    if (rules_[at].pair == pair) return rules_[at].merge;
    at = (at + 1) & (rules_.size() - 1);
  }
  return {};
}

void Bpe::encode(std::string_view text, std::vector<int32_t>& ids) const {
  Merger merger;
  WordScanner scanner(pre_tokenizer_.split, text);
  for (std::string_view word = scanner.next(); !word.empty(); word = scanner.next()) {
    encode_word(word, merger, ids);
  }
}

void Bpe::encode_word(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  int32_t whole = map_.find(word);
  if (whole >= token_count_) whole = kNoToken;
  if (whole != kNoToken &&
      (pre_tokenizer_.ignores_merges || known_words_.get(whole) == KnownWords::is_one_token)) {
    ids.push_back(whole);
    return;
  }
  // A byte that is no token is dropped before merging, so that its neighbours meet: what the
  // tokenizers package does, with which models were trained.
  merger.symbols.clear();
  for (uint32_t i = 0; i < word.size(); ++i) {
    const int32_t symbol = byte_symbols_[static_cast<uint8_t>(word[i])];
    if (symbol < token_count_) merger.symbols.push_back({i, i + 1, symbol});
  }
  merger.run([this](const MergeSymbol& left, const MergeSymbol& right) {
    return find_merge(left.id, right.id);
  });
  for (const MergeSymbol& symbol : merger.symbols) emit(word, symbol, ids);
  if (whole != kNoToken) {
    const bool is_one = merger.symbols.size() == 1 && merger.symbols[0].id == whole;
    known_words_.set(whole, is_one ? KnownWords::is_one_token : KnownWords::is_several);
  }
}

// A symbol that is no token falls apart into its bytes.
void Bpe::emit(std::string_view word, const MergeSymbol& symbol, std::vector<int32_t>& ids) const {
  if (symbol.id < token_count_) {
    ids.push_back(symbol.id);
    return;
  }
  for (uint32_t i = symbol.begin; i < symbol.end; ++i) {
    const int32_t id = byte_symbols_[static_cast<uint8_t>(word[i])];
    if (id < token_count_) ids.push_back(id);
  }
}

}  // namespace arion
