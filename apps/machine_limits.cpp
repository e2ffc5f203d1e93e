#include "machine_limits.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "percentile.h"
#include "stopwatch.h"

namespace arion::app {
namespace {

// Larger than the last-level cache of most machines, small enough to be read in a blink.
constexpr size_t kReadBytes = size_t{256} << 20;
constexpr int kProbeBursts = 5;
constexpr double kPeakBurstSeconds = 5e-3;
constexpr int kStreams = 4;  // as many as kernels read side by side
constexpr ActivationForm kForms[] = {ActivationForm::int8, ActivationForm::bf16,
                                     ActivationForm::f32};

Spread spread(std::vector<double> values) {
  std::ranges::sort(values);
  return {.median = percentile(values, 0.5), .p95 = percentile(values, 0.95)};
}

// Seconds that a barrier takes at which all workers arrive at once.
Spread measure_barrier(WorkerPool& pool, int bursts) {
  constexpr int kWaits = 2000;
  std::vector<double> seconds;
  SpinBarrier barrier(pool.size());
  for (int b = 0; b < bursts; ++b) {
    pool.run([&](int worker) {
      barrier.wait();
      for (int i = 0; i < kWaits; ++i) {
        const Stopwatch watch;
        barrier.wait();
        if (worker == 0) seconds.push_back(watch.seconds());
      }
    });
  }
  return spread(std::move(seconds));
}

Spread measure_run(WorkerPool& pool, int bursts) {
  constexpr int kRuns = 200;
  std::vector<double> seconds;
  for (int r = 0; r < kRuns * bursts; ++r) {
    const Stopwatch watch;
    pool.run([](int) {});
    seconds.push_back(watch.seconds());
  }
  return spread(std::move(seconds));
}

std::vector<int> thread_counts(const WorkerPool& pool) {
  if (pool.size() == 1) return {1};
  return {1, pool.size()};
}

// Takes everything in turns: what disturbs the machine for a second disturbs all alike.
std::vector<MachineLimits::Read> measure_reads(const LimitProbes& probes, WorkerPool& pool,
                                               int bursts) {
  std::vector<MachineLimits::Read> reads;
  for (const int threads : thread_counts(pool)) {
    for (const PageKind pages : {PageKind::small, PageKind::huge}) {
      for (const int streams : kReadStreams) reads.push_back({threads, pages, streams, 0});
    }
  }
  LimitMeter small(probes, pool, PageKind::small), huge(probes, pool, PageKind::huge);
  std::vector<std::vector<double>> samples(reads.size());
  for (int b = 0; b < bursts; ++b) {
    for (size_t i = 0; i < reads.size(); ++i) {
      LimitMeter& meter = reads[i].pages == PageKind::huge ? huge : small;
      samples[i].push_back(meter.read_burst(reads[i].threads, reads[i].streams));
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) reads[i].bytes_per_s = median(std::move(samples[i]));
  return reads;
}

std::vector<MachineLimits::Peak> measure_peaks(const LimitProbes& probes, WorkerPool& pool,
                                               int bursts) {
  std::vector<MachineLimits::Peak> peaks;
  for (const int threads : thread_counts(pool)) {
    for (const ActivationForm form : kForms) {
      peaks.push_back({threads, form, probes.peak(form).instruction, 0});
    }
  }
  LimitMeter meter(probes, pool);
  std::vector<std::vector<double>> samples(peaks.size());
  for (int b = 0; b < bursts; ++b) {
    for (size_t i = 0; i < peaks.size(); ++i) {
      samples[i].push_back(meter.peak_burst(peaks[i].threads, peaks[i].form));
    }
  }
  for (size_t i = 0; i < peaks.size(); ++i) {
    peaks[i].multiply_adds_per_s = median(std::move(samples[i]));
  }
  return peaks;
}

const char* page_name(PageKind pages) {
  return pages == PageKind::huge ? "huge" : "4K";
}

std::string threads_text(int threads) {
  return fmt::format("  {:>3} {:<9}", threads, threads == 1 ? "thread" : "threads");
}

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"p95", spread.p95}};
}

}  // namespace

LimitMeter::LimitMeter(const LimitProbes& probes, WorkerPool& pool, PageKind pages)
    : probes_(probes), pool_(pool), pages_(pages) {}

double LimitMeter::read_burst(int threads, int streams) {
  if (memory_.size() == 0) touch_memory();
  const size_t share = memory_.size() / static_cast<size_t>(threads);
  const Stopwatch watch;
  pool_.run([&](int worker) {
    if (worker >= threads) return;
    probes_.read(memory_.data() + share * static_cast<size_t>(worker), share, streams);
  });
  return static_cast<double>(share) * threads / watch.seconds();
}

double LimitMeter::peak_burst(int threads, ActivationForm form) {
  const PeakProbe& probe = probes_.peak(form);
  int64_t& rounds = rounds_[static_cast<size_t>(form)];
  const bool is_known = rounds != 0;
  if (!is_known) rounds = 1000;
  for (;; rounds *= 2) {
    const Stopwatch watch;
    pool_.run([&](int worker) {
      if (worker < threads) probe.run(rounds);
    });
    const double seconds = watch.seconds();
    if (is_known || seconds > kPeakBurstSeconds) {
      return static_cast<double>(rounds) * probe.multiply_adds * threads / seconds;
    }
  }
}

double LimitMeter::bandwidth() {
  std::vector<double> bursts;
  for (int b = 0; b < kProbeBursts; ++b) bursts.push_back(read_burst(pool_.size(), kStreams));
  return median(std::move(bursts));
}

double LimitMeter::peak(ActivationForm form) {
  std::vector<double> bursts;
  for (int b = 0; b < kProbeBursts; ++b) bursts.push_back(peak_burst(pool_.size(), form));
  return median(std::move(bursts));
}

void LimitMeter::touch_memory() {
  memory_ = Memory(kReadBytes);
  if (pages_ == PageKind::small) madvise(memory_.data(), memory_.size(), MADV_NOHUGEPAGE);
  const size_t share = memory_.size() / static_cast<size_t>(pool_.size());
  pool_.run([&](int worker) {  // untouched pages are all one page
    std::memset(memory_.data() + share * static_cast<size_t>(worker), 1, share);
  });
}

MachineLimits measure_limits(const LimitProbes& probes, WorkerPool& pool, int bursts) {
  MachineLimits limits{.threads = pool.size(),
                       .bursts = bursts,
                       .reads = measure_reads(probes, pool, bursts),
                       .peaks = measure_peaks(probes, pool, bursts)};
  if (pool.size() == 1) return limits;
  limits.barrier_seconds = measure_barrier(pool, bursts);
  limits.run_seconds = measure_run(pool, bursts);
  return limits;
}

void print_limits(const MachineLimits& limits, const std::string& isa) {
  fmt::print("{}, {} threads, medians of {} bursts\n\n", isa, limits.threads, limits.bursts);
  fmt::print("reads, GB/s      streams per thread:{:>7} {:>9} {:>9}\n", kReadStreams[0],
             kReadStreams[1], kReadStreams[2]);
  for (size_t i = 0; i < limits.reads.size(); i += kReadStreams.size()) {
    fmt::print("{} {:<4} pages      ", threads_text(limits.reads[i].threads),
               page_name(limits.reads[i].pages));
    for (size_t k = 0; k < kReadStreams.size(); ++k) {
      fmt::print(" {:>9.1f}", limits.reads[i + k].bytes_per_s / 1e9);
    }
    fmt::print("\n");
  }
  fmt::print("\npeaks, G mul-add/s\n");
  for (const MachineLimits::Peak& peak : limits.peaks) {
    fmt::print("{} {:<5} {:<32} {:>9.1f}\n", threads_text(peak.threads),
               activation_form_name(peak.form), peak.instruction, peak.multiply_adds_per_s / 1e9);
  }
  if (limits.threads == 1) return;
  const auto print_times = [](const char* what, const Spread& times) {
    fmt::print("{:<20} {:>9.2f} us median {:>9.2f} us p95\n", what, times.median * 1e6,
               times.p95 * 1e6);
  };
  fmt::print("\n");
  print_times("barrier", limits.barrier_seconds);
  print_times("start of a step", limits.run_seconds);
}

void print_limits_json(const MachineLimits& limits, const std::string& isa) {
  nlohmann::ordered_json out{{"isa", isa}, {"threads", limits.threads}, {"bursts", limits.bursts}};
  for (const MachineLimits::Read& read : limits.reads) {
    out["reads"].push_back({{"threads", read.threads},
                            {"pages", page_name(read.pages)},
                            {"streams", read.streams},
                            {"bytes_per_s", read.bytes_per_s}});
  }
  for (const MachineLimits::Peak& peak : limits.peaks) {
    out["peaks"].push_back({{"threads", peak.threads},
                            {"form", activation_form_name(peak.form)},
                            {"instruction", peak.instruction},
                            {"multiply_adds_per_s", peak.multiply_adds_per_s}});
  }
  if (limits.threads > 1) {
    out["barrier_s"] = spread_json(limits.barrier_seconds);
    out["step_start_s"] = spread_json(limits.run_seconds);
  }
  fmt::print("{}\n", out.dump(1));
}

}  // namespace arion::app
