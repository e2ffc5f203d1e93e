// The stages as their papers define them: everything sorted, everything summed, in fp64.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sample/candidates.h"
#include "sequence/sampling_params.h"

namespace arion::test {

// Tokens that may be sampled, best first, and what their logits are divided by.
struct Choice {
  std::vector<Candidate> tokens;
  double temperature = 1;
  bool is_on_the_line = false;  // a comparison was closer than fp32 can tell

  explicit Choice(std::span<const float> row) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::isfinite(row[i])) tokens.push_back({static_cast<TokenId>(i), row[i]});
    }
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
  }

  double scaled(size_t i) const { return static_cast<double>(tokens[i].logit) / temperature; }

  std::vector<double> probabilities() const {
    std::vector<double> p;
    double sum = 0;
    for (size_t i = 0; i < tokens.size(); ++i) p.push_back(std::exp(scaled(i) - scaled(0)));
    for (const double x : p) sum += x;
    for (double& x : p) x /= sum;
    return p;
  }

  double entropy() const {
    double h = 0;
    for (const double p : probabilities()) h -= p > 0 ? p * std::log(p) : 0;
    return h;
  }

  // Whether a >= b; takes note where rounding may decide.
  bool at_least(double a, double b, double tolerance) {
    if (std::abs(a - b) <= tolerance) is_on_the_line = true;
    return a >= b;
  }

  // And those as likely as the best.
  void keep_probable(double least) {
    const std::vector<double> p = probabilities();
    size_t kept = 1;
    while (kept < p.size() &&
           (tokens[kept].logit == tokens[0].logit || at_least(p[kept] / least, 1, 2e-5))) {
      ++kept;
    }
    tokens.resize(kept);
  }
};

constexpr double kMassTolerance = 3e-6;

using ReferenceStage = std::function<void(Choice&, const SamplingParams&, double draw)>;

inline void reference_top_p(Choice& choice, double top_p) {
  const std::vector<double> p = choice.probabilities();
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    sum += p[i];
    if (choice.at_least(sum, top_p, kMassTolerance)) return choice.tokens.resize(i + 1);
  }
}

inline void reference_typical(Choice& choice, double mass) {
  const std::vector<double> p = choice.probabilities();
  const double entropy = choice.entropy();
  std::vector<std::pair<double, size_t>> by_distance;
  for (size_t i = 0; i < p.size(); ++i) {
    by_distance.push_back({std::abs(-std::log(p[i]) - entropy), i});
  }
  // Equal logits are equally far, whatever std::log says.
  std::sort(by_distance.begin(), by_distance.end(), [&](const auto& a, const auto& b) {
    const bool is_equal = choice.tokens[a.second].logit == choice.tokens[b.second].logit;
    return is_equal ? a.second < b.second : a < b;
  });
  std::vector<Candidate> kept;
  double sum = 0;
  for (size_t i = 0; i < by_distance.size(); ++i) {
    const auto& [distance, token] = by_distance[i];
    kept.push_back(choice.tokens[token]);
    sum += p[token];
    if (!choice.at_least(sum, mass, kMassTolerance)) continue;
    if (i + 1 < by_distance.size() &&
        choice.tokens[by_distance[i + 1].second].logit != choice.tokens[token].logit) {
      choice.at_least(by_distance[i + 1].first, distance, 2e-5);
    }
    break;
  }
  std::sort(kept.begin(), kept.end(), ranks_before);
  choice.tokens = kept;
}

inline void reference_top_h(Choice& choice, double share) {
  if (choice.tokens.size() > 100) choice.tokens.resize(100);
  const std::vector<double> p = choice.probabilities();
  const double limit = share * choice.entropy();
  double sum = 0;
  size_t kept = 0;
  for (; kept < p.size(); ++kept) {
    sum -= p[kept] > 0 ? p[kept] * std::log(p[kept]) : 0;
    if (std::abs(sum - limit) < 1e-5) choice.is_on_the_line = true;
    if (sum > limit) break;
  }
  choice.tokens.resize(std::max<size_t>(kept, 1));
}

inline void reference_top_n_sigma(Choice& choice, double n) {
  double mean = 0, variance = 0;
  const auto count = static_cast<double>(choice.tokens.size());
  for (const Candidate& c : choice.tokens) mean += static_cast<double>(c.logit) / count;
  for (const Candidate& c : choice.tokens) {
    variance += std::pow(static_cast<double>(c.logit) - mean, 2) / count;
  }
  const double least = static_cast<double>(choice.tokens[0].logit) - n * std::sqrt(variance);
  size_t kept = 1;
  while (kept < choice.tokens.size() &&
         choice.at_least(static_cast<double>(choice.tokens[kept].logit), least, 1e-5)) {
    ++kept;
  }
  choice.tokens.resize(kept);
}

inline void reference_xtc(Choice& choice, const XtcParams& xtc, double draw) {
  if (draw > static_cast<double>(xtc.probability)) return;
  size_t likely = 0;
  for (const double p : choice.probabilities()) {
    if (!choice.at_least(p, static_cast<double>(xtc.threshold), kMassTolerance)) break;
    ++likely;
  }
  if (likely < 2) return;
  choice.tokens.erase(choice.tokens.begin(), choice.tokens.begin() + (likely - 1));
}

inline void reference_temperature(Choice& choice, const SamplingParams& params) {
  const auto t = static_cast<double>(params.temperature);
  const auto range = static_cast<double>(params.dynatemp_range);
  choice.temperature = t;
  if (range == 0) return;
  choice.temperature = 1;
  if (choice.tokens.size() < 2) return;
  const double share = choice.entropy() / std::log(static_cast<double>(choice.tokens.size()));
  const double low = std::max(0.0, t - range), high = t + range;
  choice.temperature =
      low + (high - low) * std::pow(share, static_cast<double>(params.dynatemp_exponent));
  if (choice.temperature < 1e-5) {
    choice.tokens.resize(1);
    choice.temperature = 1;
  }
}

inline const std::map<std::string, ReferenceStage>& reference_stages() {
  using P = const SamplingParams&;
  static const std::map<std::string, ReferenceStage> stages = {
      {"top_k",
       [](Choice& c, P p, double) {
         c.tokens.resize(std::min(c.tokens.size(), static_cast<size_t>(p.top_k)));
       }},
      {"top_p", [](Choice& c, P p, double) { reference_top_p(c, static_cast<double>(p.top_p)); }},
      {"min_p",
       [](Choice& c, P p, double) {
         c.keep_probable(static_cast<double>(p.min_p) * c.probabilities()[0]);
       }},
      {"epsilon_cutoff",
       [](Choice& c, P p, double) { c.keep_probable(static_cast<double>(p.epsilon_cutoff)); }},
      {"eta_cutoff",
       [](Choice& c, P p, double) {
         const auto eta = static_cast<double>(p.eta_cutoff);
         c.keep_probable(std::min(eta, std::sqrt(eta) * std::exp(-c.entropy())));
       }},
      {"typical_p",
       [](Choice& c, P p, double) { reference_typical(c, static_cast<double>(p.typical_p)); }},
      {"top_h", [](Choice& c, P p, double) { reference_top_h(c, static_cast<double>(p.top_h)); }},
      {"top_n_sigma", [](Choice& c, P p,
                         double) { reference_top_n_sigma(c, static_cast<double>(p.top_n_sigma)); }},
      {"xtc", [](Choice& c, P p, double draw) { reference_xtc(c, p.xtc, draw); }},
      {"temperature", [](Choice& c, P p, double) { reference_temperature(c, p); }},
  };
  return stages;
}

}  // namespace arion::test
