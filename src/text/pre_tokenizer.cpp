// The names, and the regexes of each in the order they are run. Where llama.cpp approximates the
// regex of a tokenizer.json this is the original.
#include "text/pre_tokenizer.h"

#include <string>

#include "base/error.h"
#include "text/scanners.h"

namespace arion {
namespace {

using Regexes = std::string_view[];

// Older files than the key.
constexpr Regexes kDefault = {R"([\p{P}$+<=>^~|]+)", pattern::kGpt2, R"(\p{N}+)",
                              R"([0-9][0-9][0-9])"};
constexpr Regexes kGpt2 = {pattern::kGpt2};
constexpr Regexes kStarCoder = {pattern::kNumber, pattern::kGpt2};
constexpr Regexes kFalcon = {R"([\p{P}$+<=>^~|`]+)", pattern::kGpt2, R"([0-9][0-9][0-9])"};
constexpr Regexes kLlama3 = {pattern::kLlama3};
constexpr Regexes kQwen2 = {pattern::kQwen2};
constexpr Regexes kQwen35 = {pattern::kQwen35};
constexpr Regexes kGpt4o = {pattern::kGpt4o};
constexpr Regexes kTekken = {pattern::kTekken};
constexpr Regexes kTinyAya = {pattern::kThousands, pattern::kGpt4o};
constexpr Regexes kDeepSeek3 = {pattern::kNumbers3, pattern::kHanKana, pattern::kDeepSeek3};
constexpr Regexes kSuperBpe = {R"(\p{N}+)", pattern::kThousandsCut};
constexpr Regexes kMiniCpm5 = {pattern::kNumbers3,
                               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+)"
                               R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Regexes kSeedCoder = {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                                R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};
// Words reach over single spaces. The atomic group gives nothing back, as nothing behind it asks.
constexpr Regexes kExaoneMoe = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?>\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Regexes kJais2 = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S))"
    R"(|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s)"};
constexpr Regexes kLaguna = {R"([^\n]+|\n+)", pattern::kQwen2};
constexpr Regexes kLines = {R"([^\n]+|\n+)"};
constexpr Regexes kWhitespace = {R"(\S+)"};
constexpr Regexes kBloom = {R"( ?[^(\s|.,!?…。，、।۔،)]+)"};
constexpr Regexes kViking = {kBloom[0], pattern::kNumber};
constexpr Regexes kChameleon = {R"(<sentinel:[0-9]+>)",    R"(IMGIMG[A-I]{1,4}Z)",
                                R"([\t\n]|    |  )",       pattern::kNumber,
                                R"([\p{P}!-/:-@\[-`{-~])", pattern::kGpt2};
// The sets without Han are spelled by what else they leave out: PCRE2 has no intersections.
constexpr Regexes kKimi = {
    R"(\p{Han}+)"
    R"(|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]*)"
    R"([^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]+)"
    R"([^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Regexes kYoutu = {
    R"([\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+)"
    R"(|[\x{FF01}…“”‘’—\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+)"
    R"(|[\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Regexes kAfmoe = {
    R"(\p{N}+)", pattern::kThousandsCut,
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{309F}\x{30A0}-\x{30FF})"
    R"(\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}\x{0E40}-\x{0E7F}\x{0E80}-\x{0EFF}\x{1780}-\x{17FF})"
    R"(\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+)",
    pattern::kDeepSeek3};
constexpr std::string_view kDeepSeekHan =
    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr Regexes kDeepSeekCoder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepSeekHan,
                                    pattern::kNumber};
// The long set is "letters with case" of an old Unicode version.
constexpr Regexes kDeepSeekLlm = {
    R"([\r\n])",
    R"(\s?[A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
    R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386})"
    R"(\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
    R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA})"
    R"(\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15})"
    R"(\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B})"
    R"(\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4})"
    R"(\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
    R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F})"
    R"(\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})"
    R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F})"
    R"(\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17})"
    R"(\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"
    R"(\x{1E900}-\x{1E943}]+)",
    R"(\s?[!-/:-~！-／：-～‘-‟\x{3000}-。]+)",
    R"(\s+$)",
    kDeepSeekHan,
    R"(\p{N}+)"};

constexpr PreTokenizer kPreTokenizers[] = {
    {"default", kDefault},
    {"mpt", kGpt2},
    {"gpt-2", kGpt2},
    {"phi-2", kGpt2},
    {"jina-es", kGpt2},
    {"jina-de", kGpt2},
    {"gigachat", kGpt2},
    {"jina-v2-es", kGpt2},
    {"jina-v2-de", kGpt2},
    {"a.x-4.0", kGpt2},
    {"mellum", kGpt2},
    {"modern-bert", kGpt2},
    {"olmo", kGpt2},
    {"jais", kGpt2},
    {"exaone4", kGpt2},
    {"trillion", kGpt2},
    {"granite-docling", kGpt2},
    {"jina-v1-en", kGpt2, {.adds_separator = true}},
    {"jina-v2-code", kGpt2, {.adds_separator = true}},
    {"roberta-bpe", kGpt2, {.adds_separator = true}},
    {"starcoder", kStarCoder},
    {"refact", kStarCoder},
    {"command-r", kStarCoder},
    {"smollm", kStarCoder},
    {"codeshell", kStarCoder},
    {"exaone", kStarCoder},
    {"minerva-7b", kStarCoder},
    {"mellum2", kStarCoder},
    {"llama3", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"llama-v3", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"llama-bpe", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"falcon3", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"falcon-h1", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"pixtral", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"midm-2.0", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"lfm2", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"jina-v5-nano", kLlama3, {.ignores_merges = true, .adds_bos = true}},
    {"dbrx", kLlama3},
    {"smaug-bpe", kLlama3},
    {"glm4", kLlama3},
    {"chatglm-bpe", kLlama3},
    {"qwen2", kQwen2},
    {"deepseek-r1-qwen", kQwen2},
    {"kormo", kQwen2},
    {"f2llmv2", kQwen2},
    {"stablelm2", kQwen2},
    {"megrez", kQwen2},
    {"bailingmoe", kQwen2},
    {"bailingmoe2", kQwen2},
    {"llada-moe", kQwen2},
    {"hunyuan", kQwen2},
    {"grok-2", kQwen2},
    {"solar-open", kQwen2},
    {"qwen35", kQwen35},
    {"gpt-4o", kGpt4o},
    {"llama4", kGpt4o},
    {"kanana2", kGpt4o},
    {"talkie", kGpt4o},
    {"minimax-m2", kGpt4o},
    {"minicpm5", kMiniCpm5, {.ignores_merges = true}},
    {"deepseek-llm", kDeepSeekLlm},
    {"deepseek-coder", kDeepSeekCoder},
    {"deepseek-v3", kDeepSeek3},
    {"hunyuan-dense", kDeepSeek3},
    {"joyai-llm", kDeepSeek3},
    {"youtu", kYoutu, {.ignores_merges = true}},
    {"falcon", kFalcon},
    {"jais-2", kJais2},
    {"gemma4", kLines, {.symbols = SymbolKind::visible_spaces}},
    {"granite-embed-multi-311m", kLines, {.symbols = SymbolKind::visible_spaces}},
    {"sarvam-moe", kLines, {.symbols = SymbolKind::visible_spaces}},
    {"whitespace", kWhitespace, {.symbols = SymbolKind::no_white_space}},
    {"poro-chat", kBloom},
    {"bloom", kBloom},
    {"gpt3-finnish", kBloom},
    {"viking", kViking},
    {"tekken", kTekken, {.ignores_merges = true, .adds_bos = true}},
    {"exaone-moe", kExaoneMoe},
    {"chameleon", kChameleon, {.adds_bos = true}},
    {"granite-embed-multi-97m", kGpt4o, {.ignores_merges = true}},
    {"tiny_aya", kTinyAya},
    {"cohere2moe", kTinyAya},
    {"superbpe", kSuperBpe},
    {"seed-coder", kSeedCoder},
    {"kimi-k2", kKimi},
    {"afmoe", kAfmoe},
    {"laguna", kLaguna},
};

}  // namespace

const PreTokenizer& find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  std::string names;
  for (const PreTokenizer& entry : kPreTokenizers) {
    if (entry.name == name) return entry;
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  fail(ErrorCode::bad_input,
       "tokenizer.ggml.pre is \"{}\", a pre-tokenizer that is not supported; supported are {}",
       name.substr(0, 80), names);
}

std::span<const PreTokenizer> pre_tokenizers() {
  return kPreTokenizers;
}

}  // namespace arion
