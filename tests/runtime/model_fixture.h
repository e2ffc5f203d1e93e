// Loads a model for a test and computes the logits of token sequences in many ways.
#pragma once
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/reference_kernels.h"
#include "cpu/cpu_kernels.h"
#include "model/hf_folder.h"
#include "runtime/graph_runner.h"
#include "runtime/sequence_stepper.h"

namespace arion::test {

struct Setup {
  ModelOptions model;
  std::string isa;  // empty: the best; "reference": the scalar reference
  int workers = 2;
  int step_tokens = 512;
  int sequences = 1;
  int context = 0;
};

// Logits [positions, vocab], row-major.
using Logits = std::vector<float>;

class LoadedModel {
 public:
  LoadedModel(GgufFile file, const Setup& setup) : pool_(setup.workers) {
    if (setup.isa == "reference") {
      register_reference_kernels(kernels_);
    } else {
      register_cpu_kernels(kernels_, select_isa(setup.isa));
    }
    Model model = describe_model(std::move(file));
    run_passes(model.graph, select_passes(setup.model.passes),
               {.activations = setup.model.activations});
    const RunnerLimits limits{.context_tokens = setup.context,
                              .sequences = setup.sequences,
                              .step_tokens = setup.step_tokens};
    runner_ = std::make_unique<GraphRunner>(
        std::move(model), setup.model, limits, kernels_, pool_,
        [this](const Model& loaded) { return pack_weights(loaded, pool_, nullptr); });
  }
  LoadedModel(const std::filesystem::path& path, const Setup& setup)
      : LoadedModel(open_model(path), setup) {}
  // `bytes` of a file must outlive the model.
  LoadedModel(const std::string& bytes, const Setup& setup)
      : LoadedModel(GgufFile::parse(std::as_bytes(std::span(bytes))), setup) {}

  GraphRunner& runner() { return *runner_; }

  // From now on pools hand out their blocks in a shuffled order.
  void shuffle_blocks(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (KvPool& pool : runner_->pools()) {
      std::vector<BlockId> blocks;
      while (const auto block = pool.allocate()) blocks.push_back(*block);
      for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random() % i]);
      for (BlockId block : blocks) pool.release(block);
    }
  }

  // All logits of `tokens`, `chunk` tokens a step, beside one token a step of each of `others`.
  Logits logits(const std::vector<TokenId>& tokens, int chunk,
                const std::vector<std::vector<TokenId>>& others = {}) {
    SequenceStepper main(*runner_, tokens, LogitsRows::all);
    std::vector<SequenceStepper> beside;
    beside.reserve(others.size());  // runs point into them
    for (const auto& other : others) beside.emplace_back(*runner_, other, LogitsRows::all);
    Logits all;
    while (main.pending() > 0) {
      const int count = std::min(chunk, main.pending());
      BatchPlan plan;
      size_t main_run = 0;
      for (size_t i = 0; i <= beside.size(); ++i) {
        if (i == beside.size() / 2) {
          main_run = plan.runs.size();
          plan.runs.push_back(main.next(count));
        }
        if (i < beside.size() && beside[i].pending() > 0) plan.runs.push_back(beside[i].next(1));
      }
      const StepResult result = runner_->run(plan);
      int row = 0;
      for (size_t r = 0; r < main_run; ++r) row += plan.runs[r].logit_rows();
      for (int i = 0; i < count; ++i) {
        const float* logits = result.row(row + i);
        all.insert(all.end(), logits, logits + runner_->vocab_size());
      }
      main.commit(count);
      for (SequenceStepper& other : beside) {
        if (other.pending() > 0) other.commit(1);
      }
    }
    return all;
  }

 private:
  KernelRegistry kernels_;
  WorkerPool pool_;
  std::unique_ptr<GraphRunner> runner_;
};

inline bool same_bits(const Logits& a, const Logits& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Reads a float32 .npy of any shape, C order.
inline std::vector<float> read_npy(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const size_t header =
      static_cast<unsigned char>(bytes.at(8)) + 256u * static_cast<unsigned char>(bytes.at(9));
  std::vector<float> values((bytes.size() - 10 - header) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + 10 + header, values.size() * sizeof(float));
  return values;
}

}  // namespace arion::test
