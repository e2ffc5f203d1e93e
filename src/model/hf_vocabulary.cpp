// Tokens and their kinds come from the tokenizer, merges and scores from its file.
#include "model/hf_vocabulary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "text/end_of_generation.h"
#include "text/pipeline/json_reader.h"
#include "text/pre_tokenizer.h"
#include "text/sentencepiece_model.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

// Texts on which pre-tokenizers differ: contractions in both cases, runs of digits, spaces and
// lines, punctuation in front of words, scripts without spaces, combining marks, emoji.
constexpr std::array<std::string_view, 4> kSamples = {
    "Hello, World! It's I'LL we'd THEY'VE 'quoted' don't\n\n  indented\tby  3 spaces\r\n \r\n end "
    " ",
    "1 12 123 1234 12345 123456789 3.14 1,000,000 x2y v1.0 \xD9\xA3\xD9\xA4\xD9\xA5 \xE2\x85\xA7",
    "f(x)=={a[i]+=b.c(d);}//note !!!??? ... a-b_c/d\\e #tag @me $5 <b>&amp;</b> `code`\n\t\n```",
    "Stra\xC3\x9F"
    "e caf\xC3\xA9 \xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 "
    "\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C\xE3\x80\x82"
    "\xE3\x81\x93\xE3\x82\x93\xE3\x81\xAB\xE3\x81\xA1\xE3\x81\xAF \xEC\x95\x88\xEB\x85\x95 "
    "\xE0\xB8\xAA\xE0\xB8\xA7\xE0\xB8\xB1\xE0\xB8\xAA \xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8"
    "\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87 \xF0\x9F\x98\x80\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD "
    "\xE2\x82\xAC"};

// Names that common models have, before all others that cut in the same way.
constexpr std::array<std::string_view, 8> kCommonNames = {
    "llama-bpe", "qwen2", "gpt-2", "smollm", "tekken", "gpt-4o", "deepseek-v3", "default"};

bool is_regular(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string_view file_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Whether both give the same ids for texts without control tokens.
bool same_ids(const Tokenizer& a, const Tokenizer& b) {
  constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};
  return std::ranges::all_of(kSamples, [&](std::string_view text) {
    return a.encode(text, kPlain) == b.encode(text, kPlain);
  });
}

class VocabularyConverter {
 public:
  VocabularyConverter(const fs::path& folder, const Tokenizer& tokenizer, uint64_t size)
      : folder_(folder), tokenizer_(tokenizer) {
    if (static_cast<uint64_t>(tokenizer.size()) > size) {
      fail(ErrorCode::bad_input, "{}: the tokenizer has {} tokens, the embedding {} rows",
           folder.string(), tokenizer.size(), size);
    }
    for (int32_t id = 0; id < tokenizer.size(); ++id) {
      add(tokenizer.spelling(id), tokenizer.type(id));
    }
    while (vocabulary_.tokens.size() < size) add("", TokenType::unused);
    vocabulary_.special = tokenizer.special();
    note_surroundings();
    note_ends();
  }

  Vocabulary convert() {
    if (!is_regular(folder_ / "tokenizer.json")) return spm();
    const MappedFile file(folder_ / "tokenizer.json");
    const JsonDocument document(file_text(file), "tokenizer.json");
    const JsonObject model = document.root().object("model");
    if (!model.find("merges")) refuse("only BPE can be told in GGUF's terms");
    return model.boolean("byte_fallback", false) ? character_bpe(model) : byte_bpe(model);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    fail(ErrorCode::bad_input, "{}: the tokenizer cannot be converted: {}", folder_.string(), why);
  }

  void add(std::string spelling, TokenType type) {
    if (spelling.empty()) {  // as converters of llama.cpp spell rows without a token
      spelling = fmt::format("[PAD{}]", vocabulary_.tokens.size());
      type = TokenType::unused;
    }
    vocabulary_.tokens.push_back(std::move(spelling));
    vocabulary_.types.push_back(type);
  }

  // What the tokenizer puts around a text: GGUF can say BOS and EOS.
  void note_surroundings() {
    constexpr std::string_view kText = "a";
    const std::vector<int32_t> inside = tokenizer_.encode(kText, {.add_special = false});
    const std::vector<int32_t> all = tokenizer_.encode(kText);
    const auto found = std::search(all.begin(), all.end(), inside.begin(), inside.end());
    const auto before = found - all.begin();
    const auto after = all.end() - found - static_cast<std::ptrdiff_t>(inside.size());
    if (before > 1 || after > 1) refuse("it puts more than one token in front of texts or behind");
    SpecialIds& special = vocabulary_.special;
    if (before == 1) special.bos = all.front();
    if (after == 1 && !special.eos) special.eos = all.back();
    if (after == 1 && special.eos != all.back())
      refuse("it puts another token than EOS behind texts");
    vocabulary_.add_bos = before == 1;
    vocabulary_.add_eos = after == 1;
  }

  // GGUF has keys for three tokens that end answers; others must be known by their spelling.
  void note_ends() {
    SpecialIds& special = vocabulary_.special;
    std::vector<int32_t> ends = std::exchange(special.ends, {});
    std::erase_if(ends,
                  [&](int32_t id) { return static_cast<size_t>(id) >= vocabulary_.tokens.size(); });
    if (!special.eos && !ends.empty()) special.eos = ends.front();
    std::vector<int32_t> known = find_end_of_generation(vocabulary_);
    for (const int32_t id : ends) {
      if (std::ranges::count(known, id) > 0) continue;
      std::optional<int32_t>& place = special.eot ? special.eom : special.eot;
      if (place) refuse("more tokens end answers than there are keys for");
      place = id;
      known.push_back(id);
    }
  }

  bool is_faithful() const { return same_ids(Tokenizer(vocabulary_), tokenizer_); }

  Vocabulary byte_bpe(const JsonObject& model) {
    vocabulary_.model = "gpt2";
    for (auto& [left, right] : merges(model)) vocabulary_.merges.push_back(left + ' ' + right);
    const bool ignores_merges = model.boolean("ignore_merges", false);
    std::vector<const PreTokenizer*> candidates;
    for (const std::string_view name : kCommonNames)
      candidates.push_back(&find_pre_tokenizer(name));
    for (const PreTokenizer& pre : pre_tokenizers()) candidates.push_back(&pre);
    std::vector<const PreTokenizer*> tried;
    for (const PreTokenizer* pre : candidates) {
      const PreTokenizerTraits& traits = pre->traits;
      const bool is_known = std::ranges::any_of(tried, [&](const PreTokenizer* other) {
        return std::ranges::equal(other->regexes, pre->regexes);
      });
      if (traits.symbols != SymbolKind::bytes || traits.ignores_merges != ignores_merges ||
          is_known)
        continue;
      tried.push_back(pre);
      vocabulary_.pre = pre->name;
      if (is_faithful()) return std::move(vocabulary_);
    }
    refuse("no pre-tokenizer with a name cuts words as it does");
  }

  // A SentencePiece model; the tokenizer may know more tokens than it.
  Vocabulary spm() {
    const fs::path path = folder_ / "tokenizer.model";
    if (!is_regular(path)) refuse("expected tokenizer.json or tokenizer.model");
    const MappedFile file(path);
    if (!file_text(file).starts_with('\n')) refuse("tokenizer.model is not of SentencePiece");
    const Vocabulary model = read_sentencepiece_model(file_text(file), "tokenizer.model");
    if (model.model != "llama") refuse("only BPE can be told in GGUF's terms");
    if (model.tokens.size() > vocabulary_.tokens.size()) refuse("tokenizer.model has more tokens");
    vocabulary_.scores.assign(vocabulary_.tokens.size(), kNoScore);
    for (size_t id = 0; id < model.tokens.size(); ++id) {
      vocabulary_.scores[id] = model.scores[id];
      vocabulary_.types[id] = model.type(id);
    }
    return sentencepiece();
  }

  // SentencePiece joins by the score of what comes out, tokenizer.json by the rank of the merge.
  Vocabulary character_bpe(const JsonObject& model) {
    vocabulary_.scores.assign(vocabulary_.tokens.size(), kNoScore);
    std::unordered_map<std::string_view, size_t> ids;
    for (size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      ids.emplace(vocabulary_.tokens[id], id);
      if (parse_byte_token(vocabulary_.tokens[id])) vocabulary_.types[id] = TokenType::byte;
    }
    float score = 0;
    for (const auto& [left, right] : merges(model)) {
      const auto id = ids.find(left + right);
      if (id == ids.end()) refuse("a merge makes no token");
      float& known = vocabulary_.scores[id->second];
      if (known == kNoScore) known = score--;
    }
    return sentencepiece();
  }

  Vocabulary sentencepiece() {
    vocabulary_.model = "llama";
    vocabulary_.pre = "default";
    for (size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      if (vocabulary_.special.unknown == static_cast<int32_t>(id)) {
        vocabulary_.types[id] = TokenType::unknown;
      }
    }
    for (const bool adds_space : {tokenizer_.has_space_prefix(), !tokenizer_.has_space_prefix()}) {
      vocabulary_.add_space_prefix = adds_space;
      if (is_faithful()) return std::move(vocabulary_);
    }
    refuse("SentencePiece would cut texts in other ways");
  }

  static std::vector<std::pair<std::string, std::string>> merges(const JsonObject& model) {
    std::vector<std::pair<std::string, std::string>> out;
    const std::string where = model.where() + ".merges";
    for (const JsonElement element : model.array("merges")) {
      if (element.is_array()) {
        const JsonArray pair = json_array(element, where);
        out.emplace_back(json_string(pair.at(0), where), json_string(pair.at(1), where));
        continue;
      }
      const std::string_view merge = json_string(element, where);
      const size_t space = merge.find(' ');  // the tokenizer has been read: there is one
      out.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    return out;
  }

  // Below all scores of merges: never made by one.
  static constexpr float kNoScore = -1e9f;

  const fs::path& folder_;
  const Tokenizer& tokenizer_;
  Vocabulary vocabulary_;
};

}  // namespace

Vocabulary convert_vocabulary(const fs::path& folder, const Tokenizer& tokenizer, uint64_t size) {
  return VocabularyConverter(folder, tokenizer, size).convert();
}

}  // namespace arion
