// Noise words by Philox, and an argmax that skips tokens whose best noise could not win.
#include "sample/gumbel.h"

#include <array>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/philox.h"
#include "base/real_math.h"

namespace arion {
namespace {

// Tokens looked at together; the loops over one strip compile to vector code.
constexpr size_t kStrip = ScannedRow::kBlock;

constexpr float kLn2 = 0.693147f;
constexpr float kLargestNoise = 22.9f;  // u = 0 gives 33 ln 2

std::array<uint32_t, 4> counter_of(const SampleKey& key, NoisePurpose purpose, TokenId token) {
  return {key.position, static_cast<uint32_t>(token), key.choice, static_cast<uint32_t>(purpose)};
}

std::array<uint32_t, 2> philox_key(const SampleKey& key) {
  return {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)};
}

uint32_t noise_word(const SampleKey& key, NoisePurpose purpose, TokenId token) {
  return philox(counter_of(key, purpose, token), philox_key(key))[0];
}

float noise_of_word(uint32_t word) {
  const double v = (static_cast<double>(word) + 0.5) * 0x1p-32;
  return static_cast<float>(-real::log(-real::log1p(-v)));
}

// A cheap upper bound of noise_of_word: -log1p(-v) >= v, so the noise is at most -ln v. The bits of
// a float m * 2^e, read as an integer, are a linear function of e + (m - 1), and log2 m >= m - 1.
float noise_bound(uint32_t word) {
  // Half of the word, cut to the 24 bits a float holds exactly; v >= 2^-31 times that.
  const auto half = static_cast<float>(static_cast<int32_t>(word >> 1 & 0x7fffff80u));
  const float log2_half = static_cast<float>(std::bit_cast<int32_t>(half)) * 0x1p-23f - 127.0f;
  return (31.0f - log2_half) * kLn2 + 1e-3f;  // the last term is above all rounding errors
}

// The best token so far. Most tokens lose already by a bound of their noise and cost no logarithm.
class Best {
 public:
  bool can_win(float scaled, float noise_at_most) const { return scaled + noise_at_most >= score_; }
  void offer(TokenId token, float scaled, uint32_t word) {
    if (!can_win(scaled, noise_bound(word))) return;
    const float score = scaled + noise_of_word(word);
    if (score > score_ || (score == score_ && token < token_)) {
      score_ = score;
      token_ = token;
    }
  }
  TokenId token() const { return token_; }

 private:
  float score_ = -kInfinity;
  TokenId token_ = std::numeric_limits<TokenId>::max();
};

// What noise is added to.
struct Scale {
  float peak, temperature;
  float operator()(float logit) const { return (logit - peak) / temperature; }
};

void offer_strip(std::span<const float, kStrip> logits, TokenId first, const Scale& scale,
                 const SampleKey& key, Best& best) {
  std::array<float, kStrip> scaled;
  for (size_t i = 0; i < kStrip; ++i) scaled[i] = scale(logits[i]);
  std::array<uint32_t, kStrip> words;
  philox_words(counter_of(key, NoisePurpose::token, first), philox_key(key), words);
  unsigned any = 0;
  for (size_t i = 0; i < kStrip; ++i) {
    any |= best.can_win(scaled[i], noise_bound(words[i])) ? 1u : 0u;
  }
  if (any == 0) return;
  for (size_t i = 0; i < kStrip; ++i) {
    best.offer(first + static_cast<TokenId>(i), scaled[i], words[i]);
  }
}

}  // namespace

float gumbel_noise(const SampleKey& key, NoisePurpose purpose, TokenId token) {
  return noise_of_word(noise_word(key, purpose, token));
}

TokenId gumbel_argmax(const ScannedRow& row, float temperature, const SampleKey& key) {
  const std::span<const float> logits = row.logits();
  const Scale scale{row.best().logit, temperature};
  Best best;
  // The likeliest token first: a good score early spares the others most of the work.
  best.offer(row.best().id, 0, noise_word(key, NoisePurpose::token, row.best().id));
  for (size_t block = 0; block < row.block_maxima().size(); ++block) {
    if (!best.can_win(scale(row.block_maxima()[block]), kLargestNoise)) continue;
    const size_t begin = block * kStrip;
    if (begin + kStrip <= logits.size()) {
      offer_strip(logits.subspan(begin).first<kStrip>(), static_cast<TokenId>(begin), scale, key,
                  best);
      continue;
    }
    for (size_t i = begin; i < logits.size(); ++i) {
      const auto token = static_cast<TokenId>(i);
      best.offer(token, scale(logits[i]), noise_word(key, NoisePurpose::token, token));
    }
  }
  return best.token();
}

TokenId gumbel_argmax(std::span<const Candidate> candidates, float peak, float temperature,
                      const SampleKey& key) {
  CHECK(!candidates.empty());
  const Scale scale{peak, temperature};
  Best best;
  for (const Candidate& c : candidates) {
    best.offer(c.id, scale(c.logit), noise_word(key, NoisePurpose::token, c.id));
  }
  return best.token();
}

double uniform(const SampleKey& key, NoisePurpose purpose) {
  return (static_cast<double>(noise_word(key, purpose, 0)) + 0.5) * 0x1p-32;
}

}  // namespace arion
