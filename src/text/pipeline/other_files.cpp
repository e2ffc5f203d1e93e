// What the tools around each of these formats do with them.
#include "text/pipeline/other_files.h"

#include <charconv>

#include "base/error.h"
#include "text/base64.h"
#include "text/pipeline/fast_bpe.h"
#include "text/pipeline/json_reader.h"
#include "text/pipeline/limits.h"
#include "text/pipeline/rank_merges.h"
#include "text/pipeline/tokenizer_json.h"
#include "text/pre_tokenizer.h"
#include "text/token_spelling.h"

namespace arion {
namespace {

// Takes the first line off, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void put(std::vector<std::string>& tokens, size_t id, std::string token, const std::string& name) {
  if (id >= kMaxTokens || token.size() > kMaxTokenBytes) {
    fail(ErrorCode::bad_input,
         "{}: token {} of {} bytes, at most {} tokens of {} bytes are supported", name, id,
         token.size(), kMaxTokens, kMaxTokenBytes);
  }
  if (tokens.size() <= id) tokens.resize(id + 1);
  if (!tokens[id].empty()) fail(ErrorCode::bad_input, "{}: two tokens have the id {}", name, id);
  tokens[id] = std::move(token);
}

std::vector<std::string> regexes_of(std::string_view pre_tokenizer) {
  const auto& regexes = find_pre_tokenizer(pre_tokenizer).regexes;
  return {regexes.begin(), regexes.end()};
}

AddedToken special_token(std::string_view content, int32_t id) {
  return {.content = std::string(content), .id = id, .is_normalized = false, .is_special = true};
}

// `first_id`: of rank 0. Ranks and ids differ by it.
void set_ranked_bpe(const std::vector<std::string>& tokens, size_t first_id,
                    const std::vector<std::string>& regexes, PipelineParts& parts) {
  const MergeList merges = merges_of_ranks(tokens);
  std::vector<std::string> spelled(first_id);
  for (const std::string& token : tokens) spelled.push_back(encode_byte_alphabet(token));
  set_byte_level_bpe(spelled, merges, regexes, true, parts);
}

struct KnownRanks {
  size_t count;
  std::string_view pre_tokenizer;
  std::vector<AddedToken> special;
};

std::vector<KnownRanks> known_ranks() {
  return {
      {50256, "gpt-2", {special_token("<|endoftext|>", 50256)}},
      {100256,  // cl100k_base
       "dbrx",
       {special_token("<|endoftext|>", 100257), special_token("<|fim_prefix|>", 100258),
        special_token("<|fim_middle|>", 100259), special_token("<|fim_suffix|>", 100260),
        special_token("<|endofprompt|>", 100276)}},
      {128000,
       "llama3",
       {special_token("<|begin_of_text|>", 128000), special_token("<|end_of_text|>", 128001),
        special_token("<|start_header_id|>", 128006), special_token("<|end_header_id|>", 128007),
        special_token("<|eot_id|>", 128009)}},
      {151643,
       "qwen2",
       {special_token("<|endoftext|>", 151643), special_token("<|im_start|>", 151644),
        special_token("<|im_end|>", 151645)}},
      {163584, "kimi-k2", {special_token("[BOS]", 163584), special_token("[EOS]", 163585)}},
      {199998,  // o200k_base
       "gpt-4o",
       {special_token("<|endoftext|>", 199999), special_token("<|endofprompt|>", 200018)}},
  };
}

std::vector<std::string> read_ranks(std::string_view text, const std::string& name) {
  std::vector<std::string> tokens;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const size_t space = std::min(line.find(' '), line.size());
    const auto bytes = decode_base64(line.substr(0, space));
    size_t rank = 0;
    const char* end = line.data() + line.size();
    const auto [rest, error] =
        std::from_chars(line.data() + std::min(space + 1, line.size()), end, rank);
    if (!bytes || bytes->empty() || error != std::errc() || rest != end) {
      fail(ErrorCode::bad_input, "{}: line {} is no base64 with a rank behind", name, number);
    }
    put(tokens, rank, *bytes, name);
  }
  return tokens;
}

// Files of the first version do not list their special tokens.
constexpr std::string_view kTekkenSpecial[] = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};

std::vector<AddedToken> read_tekken_special(const JsonObject& root, size_t count) {
  std::vector<AddedToken> tokens;
  if (root.find("special_tokens")) {
    for (const JsonElement element : root.array("special_tokens")) {
      const JsonObject item(element, root.where() + ": special_tokens");
      tokens.push_back(special_token(item.string("token_str"),
                                     static_cast<int32_t>(item.integer("rank", count - 1))));
    }
    return tokens;
  }
  for (const std::string_view content : kTekkenSpecial) {
    const int32_t id = static_cast<int32_t>(tokens.size());
    if (tokens.size() < count) tokens.push_back(special_token(content, id));
  }
  return tokens;
}

bool names_class(const TokenizerConfig& config, std::string_view part) {
  return config.tokenizer_class.find(part) != std::string::npos;
}

struct KnownClass {
  std::string_view pre_tokenizer;
  bool is_composed = false;  // NFC
};

KnownClass find_class(const TokenizerConfig& config, const std::string& name) {
  if (names_class(config, "Qwen2")) return {"qwen2", true};
  for (const AddedToken& token : config.added_tokens) {
    if (token.content == "<|begin_of_text|>") return {"llama3"};
  }
  if (config.tokenizer_class.empty()) return {"gpt-2"};
  for (const std::string_view known : {"GPT2", "GPTNeo", "Roberta", "Bart", "CodeGen", "Whisper"}) {
    if (names_class(config, known)) return {"gpt-2"};
  }
  fail(ErrorCode::bad_input,
       "{}: how the class \"{}\" splits a text is not known; write the tokenizer as tokenizer.json",
       name, config.tokenizer_class.substr(0, 80));
}

MergeList read_merge_lines(std::string_view text, const std::string& name) {
  MergeList merges;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || merges.size() >= kMaxMerges) {
      fail(ErrorCode::bad_input, "{}: line {} of merges.txt is no pair of tokens", name, number);
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

Template around_text(const WordVocabulary& vocabulary, std::string_view first,
                     std::string_view last) {
  Template result;
  const auto add = [&](std::string_view spelling) {
    if (const auto id = vocabulary.find(spelling)) {
      result.parts.push_back({.is_text = false, .ids = {*id}});
    }
  };
  add(first);
  result.parts.push_back({});
  add(last);
  return result;
}

}  // namespace

PipelineParts read_tiktoken(std::string_view text, const std::string& name) {
  const std::vector<std::string> tokens = read_ranks(text, name);
  std::string counts;
  for (KnownRanks& known : known_ranks()) {
    if (known.count == tokens.size()) {
      PipelineParts parts;
      set_ranked_bpe(tokens, 0, regexes_of(known.pre_tokenizer), parts);
      add_tokens(std::move(known.special), NewIds::as_asked, parts);
      return parts;
    }
    counts += fmt::format("{}{}", counts.empty() ? "" : ", ", known.count);
  }
  fail(ErrorCode::bad_input,
       "{}: how a text is split for {} tokens is not known; known are vocabularies of {}", name,
       tokens.size(), counts);
}

PipelineParts read_tekken(std::string_view json, const std::string& name) {
  const JsonDocument document(json, name);
  const JsonObject root = document.root();
  const JsonObject config = root.object("config");
  const size_t special_count = config.integer("default_num_special_tokens", kMaxTokens / 2);
  const size_t count = config.integer("default_vocab_size", kMaxTokens);
  if (special_count == 0 || count <= special_count) {
    fail(ErrorCode::bad_input, "{}: {} tokens with {} special ones among them", name, count,
         special_count);
  }
  std::vector<std::string> tokens;
  for (const JsonElement element : root.array("vocab")) {
    const JsonObject item(element, name + ": vocab");
    const size_t rank = item.integer("rank", kMaxTokens);
    if (rank >= count - special_count) continue;  // the file holds more than is in use
    const auto bytes = decode_base64(item.string("token_bytes"));
    if (!bytes) fail(ErrorCode::bad_input, "{}: vocab: token {} is no base64", name, rank);
    put(tokens, rank, *bytes, name);
  }
  PipelineParts parts;
  set_ranked_bpe(tokens, special_count, {std::string(config.string("pattern"))}, parts);
  add_tokens(read_tekken_special(root, special_count), NewIds::as_asked, parts);
  for (const AddedToken& token : parts.added_tokens) {
    if (token.content != "<s>") continue;
    parts.post_processor = {{.parts = {{.is_text = false, .ids = {token.id}}, {}}}};
  }
  return parts;
}

PipelineParts read_vocab_and_merges(std::string_view vocab_json, std::string_view merges,
                                    const TokenizerConfig& config, const std::string& name) {
  const JsonDocument document(vocab_json, name);
  std::vector<std::string> tokens;
  for (const auto [token, id] : document.root()) {
    put(tokens, json_integer(id, kMaxTokens, name), std::string(token), name);
  }
  const KnownClass known = find_class(config, name);
  PipelineParts parts;
  if (known.is_composed) parts.normalizer = make_normal_form_normalizer(NormalForm::nfc);
  set_byte_level_bpe(tokens, read_merge_lines(merges, name), regexes_of(known.pre_tokenizer),
                     find_pre_tokenizer(known.pre_tokenizer).traits.ignores_merges, parts);
  if (find_pre_tokenizer(known.pre_tokenizer).traits.adds_bos && config.bos) {
    for (const AddedToken& token : config.added_tokens) {
      if (token.content != *config.bos) continue;
      parts.post_processor = {{.parts = {{.is_text = false, .ids = {token.id}}, {}}}};
    }
  }
  if (names_class(config, "Roberta")) {
    parts.post_processor = {around_text(*parts.vocabulary, "<s>", "</s>")};
  }
  return parts;
}

PipelineParts read_vocab_txt(std::string_view text, const TokenizerConfig& config,
                             const std::string& name) {
  std::vector<std::string> tokens;
  while (!text.empty()) put(tokens, tokens.size(), std::string(take_line(text)), name);
  PipelineParts parts;
  parts.vocabulary = std::make_unique<WordVocabulary>(tokens);
  parts.normalizer = make_bert_normalizer({.lowers_case = config.lowers_case.value_or(true)});
  parts.pre_tokenizer = make_bert_cutter();
  parts.model = make_wordpiece_model(*parts.vocabulary, {});
  parts.decoder = make_wordpiece_decoder("##", true);
  parts.post_processor = {around_text(*parts.vocabulary, "[CLS]", "[SEP]")};
  std::vector<AddedToken> special;
  for (const std::string_view content : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
    if (parts.vocabulary->find(content)) special.push_back(special_token(content, 0));
  }
  add_tokens(std::move(special), NewIds::next, parts);
  return parts;
}

}  // namespace arion
