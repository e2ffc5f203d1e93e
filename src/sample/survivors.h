// The tokens that may still be sampled.
//
// At first that is the whole row, and the stages that only need a threshold or a sum work on it
// without a copy. Whoever needs single tokens gets a list. Probabilities are those of
// softmax(logit / temperature) over the tokens left; e^x and the sums are fixed by
// sample/softmax.h for the row, and in fp64 along the list.
#pragma once
#include <span>
#include <vector>

#include "sample/candidates.h"

namespace arion {

// Sums over the tokens left, with x = (logit - peak) / temperature.
struct Moments {
  size_t count = 0;     // of tokens
  double mass = 0;      // sum of e^x, at least 1
  double weighted = 0;  // sum of x e^x

  double entropy() const;  // of the probabilities, in nats
};

// At least one token is always left. Used by one thread.
class Survivors {
 public:
  // All allowed tokens of the row, at temperature 1. `row` must outlive the use.
  void start(const ScannedRow& row);

  bool is_everything() const { return is_everything_; }
  const ScannedRow& row() const { return *row_; }
  float peak() const { return peak_; }  // largest logit left
  float temperature() const { return temperature_; }
  void set_temperature(float temperature) { temperature_ = temperature; }  // > 0

  // e^((logit - peak) / temperature): the probability but for the division by the mass.
  float weight(float logit) const;
  // The smallest logit whose weight, exactly computed, is at least w. 0 < w.
  float logit_of_weight(double w) const;
  Moments moments() const;

  // The tokens left by ascending id or in rank order.
  std::span<const Candidate> list();
  // In rank order.
  std::span<const Candidate> sorted();
  // The first so many of them; narrows nothing.
  std::span<const Candidate> best(size_t count);

  void keep_first(size_t count);        // in rank order; at least one
  void keep_at_least(float threshold);  // by logit; the best and its equals always
  void keep_mass(double share);         // the shortest prefix in rank order with this probability
  // Other tokens or logits; at least one, by ascending id or in rank order. Swaps the memory.
  void replace(std::vector<Candidate>& list);

 private:
  void keep_mass_of_row(double share);
  bool keep_prefix(double mass);

  const ScannedRow* row_ = nullptr;
  float peak_ = 0, temperature_ = 1;
  bool is_everything_ = true, is_sorted_ = false;
  std::vector<Candidate> list_;  // if not everything
  std::vector<Candidate> best_;  // memory reused from row to row
  std::vector<float> weights_;
};

}  // namespace arion
