// Rates of the linear kernels, beside what the machine can do at that moment.
//
//   linear_bench [isa] [spec ...]      specs as c4.a, c4.d32, bf16.none; default: all with int8
//
// Every line is the median over alternating runs of: the kernel, a probe of multiply-adds and one
// of reads, all on the same number of threads, by the processor time of the busiest thread.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cpu/cpu_kernels.h"
#include "percentile.h"
#include "tensor/memory.h"

namespace {

using namespace arion;
using app::median;

constexpr int kFeatures = 4096, kCols = 4096;
constexpr int kRepeats = 15;
constexpr int64_t kProbeRounds = 100000;
constexpr int kCopies = 24;  // matrices in turn, so that the weights come from memory

// Processor time of the calling thread in seconds: what other programs take does not count.
double busy_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Two threads that wait for each other between jobs.
class Pair {
 public:
  Pair() : thread_([this] { loop(); }) {}
  ~Pair() {
    quit_ = true;
    generation_.fetch_add(1);
    thread_.join();
  }
  // Seconds of the thread that was busy longest.
  double run(int threads, const std::function<void(int)>& job) {
    const std::function<void(int)> timed = [&](int id) {
      const double start = busy_time();
      job(id);
      seconds_[id] = busy_time() - start;
    };
    seconds_[1] = 0;
    if (threads == 1) {
      timed(0);
      return seconds_[0];
    }
    job_ = &timed;
    const int generation = generation_.fetch_add(1) + 1;
    timed(0);
    while (done_.load() != generation) std::this_thread::yield();
    return std::max(seconds_[0], seconds_[1]);
  }

 private:
  void loop() {
    for (int seen = 0;;) {
      while (generation_.load() == seen) std::this_thread::yield();
      seen = generation_.load();
      if (quit_) return;
      (*job_)(1);
      done_.store(seen);
    }
  }

  std::atomic<int> generation_{0}, done_{0};
  std::atomic<bool> quit_{false};
  double seconds_[2] = {};
  const std::function<void(int)>* job_ = nullptr;
  std::thread thread_;
};

struct Spec {
  const char* name;
  PanelSpec panel;
  ActivationForm form;
};

const Spec kSpecs[] = {
    {"c1.a128", {Codec::c1, ScaleMode::a128, 1}, ActivationForm::int8},
    {"c2.a128", {Codec::c2, ScaleMode::a128, 1}, ActivationForm::int8},
    {"c2.d16m", {Codec::c2, ScaleMode::d16m, 0}, ActivationForm::int8},
    {"c3.d16", {Codec::c3, ScaleMode::d16, 4}, ActivationForm::int8},
    {"t3.d16", {Codec::t3, ScaleMode::d16, kTableZero, CodeTable::iq2}, ActivationForm::int8},
    {"t3.d32s", {Codec::t3, ScaleMode::d32s, kTableZero, CodeTable::iq2}, ActivationForm::int8},
    {"t4.a", {Codec::t4, ScaleMode::a, kTableZero, CodeTable::iq4}, ActivationForm::int8},
    {"t4.d32s", {Codec::t4, ScaleMode::d32s, kTableZero, CodeTable::iq4}, ActivationForm::int8},
    {"t4.e16", {Codec::t4, ScaleMode::e16, kTableZero, CodeTable::fp4}, ActivationForm::int8},
    {"t4.e32", {Codec::t4, ScaleMode::e32, kTableZero, CodeTable::fp4}, ActivationForm::int8},
    {"c4.a", {Codec::c4, ScaleMode::a, 8}, ActivationForm::int8},
    {"c4.b", {Codec::c4, ScaleMode::b, 0}, ActivationForm::int8},
    {"c4.d32", {Codec::c4, ScaleMode::d32, 0}, ActivationForm::int8},
    {"c5.a", {Codec::c5, ScaleMode::a, 16}, ActivationForm::int8},
    {"c5.d32", {Codec::c5, ScaleMode::d32, 0}, ActivationForm::int8},
    {"c6.d16", {Codec::c6, ScaleMode::d16, 32}, ActivationForm::int8},
    {"c8.a", {Codec::c8, ScaleMode::a, 128}, ActivationForm::int8},
    {"bf16", {Codec::bf16, ScaleMode::none, 0}, ActivationForm::bf16},
    {"f32", {Codec::f32, ScaleMode::none, 0}, ActivationForm::f32},
};

class Bench {
 public:
  explicit Bench(IsaLevel level) { register_cpu_kernels(registry_, level); }

  void run(const Spec& spec) {
    const size_t bytes = panel_bytes(spec.panel, kCols) * panel_count(kFeatures);
    const size_t copies = std::max<size_t>(2, kCopies * (size_t{10} << 20) / bytes);
    weights_ = Memory(bytes * copies);
    // Any bytes will do; 0x2a2a as f16 is a small normal number.
    std::memset(weights_.data(), 0x2a, weights_.size());
    Memory x(activation_bytes(spec.form, 512, kCols));
    if (spec.form != ActivationForm::int8) std::memset(x.data(), 0x3a, x.size());
    Memory y(activation_bytes(ActivationForm::f32, 512, kFeatures));
    LinearArgs args;
    args.form = spec.form;
    args.x = {x.data(), 0};
    args.weight = {weights_.data(), spec.panel, kFeatures, kCols};
    args.out.f32 = {y.data(), 0};
    const Kernel& kernel =
        registry_.best({.kind = OpKind::linear, .form = spec.form, .weights = spec.panel});
    std::printf("%s, %d x %d\n%8s %5s %9s %7s %9s %7s %9s %9s %7s %9s\n", kernel.name, kFeatures,
                kCols, "threads", "rows", "TOPS", "share", "best", "share", "peak", "GB/s", "share",
                "read");
    for (const int threads : {1, 2}) {
      for (const int rows : {1, 4, 8, 16, 64, 512}) measure(kernel, args, rows, threads, copies);
    }
  }

 private:
  void measure(const Kernel& kernel, LinearArgs args, int rows, int threads, size_t copies) {
    const size_t bytes = weights_.size() / copies;
    StepInput input;
    input.all.count = rows;
    const int chunks = kernel.chunks(&args, input, threads);
    const int matrices = rows >= 64 ? 1 : rows >= 8 ? 8 : static_cast<int>(copies);
    std::vector<double> rate, peak, read;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      double seconds = 0;
      for (int m = 0; m < matrices; ++m) {
        const size_t copy = static_cast<size_t>(repeat * matrices + m) % copies;
        args.weight.panels = weights_.data() + bytes * copy;
        std::atomic<int> next{threads};
        seconds += pair_.run(threads, [&](int id) {
          for (int chunk = id; chunk < chunks; chunk = next.fetch_add(1)) {
            kernel.run(&args, input, chunk, chunks,
                       {.index = id, .count = threads, .scratch = scratch_[id].data()});
          }
        });
      }
      rate.push_back(matrices / seconds);
      const PeakProbe& probe = registry_.limit_probes().peak(args.form);
      seconds = pair_.run(threads, [&](int) { probe.run(kProbeRounds); });
      peak.push_back(2e-12 * kProbeRounds * probe.multiply_adds * threads / seconds);
      const size_t half = weights_.size() / static_cast<size_t>(threads);
      seconds = pair_.run(threads, [&](int id) {
        registry_.limit_probes().read(weights_.data() + half * static_cast<size_t>(id), half, 4);
      });
      read.push_back(static_cast<double>(weights_.size()) / seconds / 1e9);
    }
    const double pairs = 2e-12 * rows * kFeatures * kCols;
    const double tops = median(rate) * pairs, best = *std::ranges::max_element(rate) * pairs;
    const double gbs = median(rate) * static_cast<double>(bytes) / 1e9;
    std::printf("%8d %5d %9.3f %6.1f%% %9.3f %6.1f%% %9.3f %9.1f %6.1f%% %9.1f\n", threads, rows,
                tops, 100 * tops / median(peak), best, 100 * best / *std::ranges::max_element(peak),
                median(peak), gbs, 100 * gbs / median(read), median(read));
    std::fflush(stdout);
  }

  KernelRegistry registry_;
  Memory weights_;
  Memory scratch_[2] = {Memory(kScratchBytes), Memory(kScratchBytes)};
  Pair pair_;
};

}  // namespace

int main(int argc, char** argv) {
  const IsaLevel level = select_isa(argc > 1 ? argv[1] : "");
  Bench bench(level);
  for (const Spec& spec : kSpecs) {
    bool is_wanted = argc <= 2;
    for (int i = 2; i < argc; ++i) is_wanted |= spec.name == std::string(argv[i]);
    if (is_wanted) bench.run(spec);
  }
  return 0;
}
