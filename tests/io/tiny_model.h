// A one-layer llama model small enough to write down: 320 tokens, hidden size 320, 5 heads of 64.
// Embedding = sqrt(320) * identity, everything else zero unless set, so that its logits are known
// exactly. Its files (tiny_gguf.h) serve the tests of the loader, the tokenizer and the engine.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace arion::test {

constexpr int kTinyHidden = 320;  // = size of the vocabulary
constexpr int kTinyHeads = 5;
constexpr int kTinyHeadDim = 64;
constexpr int kTinyFeedForward = 32;
// Ids 0 to 255 are the bytes, then these, then what merges make, then unused ones up to 320.
enum TinyToken : int32_t {
  kTinyBos = 256,
  kTinyEos = 257,
  kTinyImStart = 258,
  kTinyImEnd = 259,
  kTinyToolOpen = 260,
  kTinyToolClose = 261,
  kTinyPad = 262,
  kTinyThink = 263
};

// GPT-2's printable stand-in for a byte, as UTF-8.
inline std::string byte_stand_in(int byte) {
  const auto is_printable = [](int b) {
    return (b >= 33 && b < 127) || (b >= 161 && b < 173) || (b >= 174 && b < 256);
  };
  int code = byte;
  if (!is_printable(byte)) {
    code = 256;
    for (int b = 0; b < byte; ++b) code += is_printable(b) ? 0 : 1;
  }
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

struct TinyVocabulary {
  std::vector<std::string> tokens;  // 320, in the byte alphabet
  std::vector<std::string> merges;  // "left right"
  std::vector<int32_t> types;       // 1 normal, 3 control, 4 user-defined, 5 unused

  // `words` become tokens reachable by merges from the left: "DEF" adds "DE", then "DEF".
  explicit TinyVocabulary(const std::vector<std::string>& words = {}) {
    for (int byte = 0; byte < 256; ++byte) tokens.push_back(byte_stand_in(byte));
    for (const char* special : {"<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>", "<tool_call>",
                                "</tool_call>", "<|pad|>", "<think>"}) {
      tokens.push_back(special);
    }
    for (const std::string& word : words) add_word(word);
    types.assign(tokens.size(), 1);
    for (int id = kTinyBos; id <= kTinyThink; ++id) types[id] = 3;
    types[kTinyToolOpen] = types[kTinyToolClose] = types[kTinyThink] = 4;
    while (tokens.size() < kTinyHidden) {
      tokens.push_back("<|unused" + std::to_string(tokens.size()) + "|>");
    }
    types.resize(kTinyHidden, 5);
  }

  // The id of the token with exactly these bytes.
  int32_t id(std::string_view text) const {
    std::string token;
    for (const char c : text) token += byte_stand_in(static_cast<unsigned char>(c));
    const auto it = std::ranges::find(tokens, token);
    CHECK(it != tokens.end());
    return static_cast<int32_t>(it - tokens.begin());
  }

 private:
  void add_word(const std::string& word) {
    std::string current = byte_stand_in(static_cast<unsigned char>(word[0]));
    for (const char c : word.substr(1)) {
      const std::string byte = byte_stand_in(static_cast<unsigned char>(c));
      if (std::ranges::find(tokens, current + byte) == tokens.end()) {
        tokens.push_back(current + byte);
        merges.push_back(current + " " + byte);
      }
      current += byte;
    }
  }
};

// Row-major weights as transformers stores them: [out, in], rotary pairs half a head apart.
struct TinyModel {
  TinyVocabulary vocabulary = TinyVocabulary();
  uint32_t context = 2048;
  float rope_theta = 10'000;
  float epsilon = 1e-5f;
  std::string chat_template =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  std::vector<float> embedding = scaled_identity(std::sqrt(static_cast<double>(kTinyHidden)));
  std::vector<float> q = square(), k = square(), v = square(), o = square();
  std::vector<float> gate = std::vector<float>(kTinyFeedForward * kTinyHidden), up = gate;
  std::vector<float> down = gate;  // [hidden, feed forward]
  std::vector<float> output = square();

  static std::vector<float> square() { return std::vector<float>(kTinyHidden * kTinyHidden); }
  static std::vector<float> scaled_identity(double scale) {
    std::vector<float> weight = square();
    for (int i = 0; i < kTinyHidden; ++i) {
      weight[i * kTinyHidden + i] = static_cast<float>(scale);
    }
    return weight;
  }
};

// Next-token logits that depend on the last token only. What is not listed has logit `base`; a
// last token that is not listed is followed by the end of text.
using TinyTransitions = std::map<int32_t, std::map<int32_t, double>>;
inline TinyModel tiny_markov(TinyVocabulary vocabulary, const TinyTransitions& transitions,
                             double base = -20) {
  TinyModel model{.vocabulary = std::move(vocabulary)};
  // Value of the normed hidden state at the place of the last token.
  const double hidden = std::sqrt(static_cast<double>(kTinyHidden)) / std::sqrt(1 + 1e-5);
  for (int last = 0; last < kTinyHidden; ++last) {
    std::map<int32_t, double> row = {{kTinyEos, 20.0}};
    if (const auto it = transitions.find(last); it != transitions.end()) row = it->second;
    for (int next = 0; next < kTinyHidden; ++next) {
      const auto logit = row.find(next);
      model.output[next * kTinyHidden + last] =
          static_cast<float>((logit != row.end() ? logit->second : base) / hidden);
    }
  }
  return model;
}

// Continues ids[0] with ids[1] and so on, then ends; the ids are distinct.
inline TinyModel tiny_chain(TinyVocabulary vocabulary, const std::vector<int32_t>& ids) {
  TinyTransitions transitions;
  for (size_t i = 0; i < ids.size(); ++i) {
    transitions[ids[i]] = {{i + 1 < ids.size() ? ids[i + 1] : +kTinyEos, 20.0}};
  }
  return tiny_markov(std::move(vocabulary), transitions);
}

// Attention is uniform over the visible tokens, and the logit of a token grows with how often it is
// visible: any wrong visibility changes logits by a known amount.
inline TinyModel tiny_histogram(double strength = 100, double gain = 1) {
  TinyModel model;
  model.v = TinyModel::scaled_identity(1 / std::sqrt(static_cast<double>(kTinyHidden)));
  model.o = TinyModel::scaled_identity(strength);
  model.output = TinyModel::scaled_identity(gain);
  return model;
}

// After "A" it says "BCDEFGHIJK" in tokens B C DEF GH I J K.
inline TinyModel tiny_stop_model() {
  TinyVocabulary v({"DEF", "GH"});
  std::vector<int32_t> ids;
  for (const char* text : {"A", "B", "C", "DEF", "GH", "I", "J", "K"}) ids.push_back(v.id(text));
  return tiny_chain(std::move(v), ids);
}

}  // namespace arion::test
