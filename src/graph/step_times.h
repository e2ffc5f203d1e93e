// Where the time of all workers goes while a plan runs.
#pragma once
#include <cstddef>
#include <vector>

namespace arion {

// Sums over runs, in seconds. Every worker writes its own part.
struct StepTimes {
  struct Part {
    double waiting = 0;  // at the barrier before the step
    double computing = 0;
  };

  StepTimes(int workers, size_t steps)
      : parts(static_cast<size_t>(workers), std::vector<Part>(steps)) {}

  // Of one step of one run, the mean over the workers.
  Part mean(size_t step) const {
    Part sum;
    for (const std::vector<Part>& worker : parts) {
      sum.waiting += worker[step].waiting;
      sum.computing += worker[step].computing;
    }
    const double count = static_cast<double>(parts.size()) * runs;
    return {.waiting = sum.waiting / count, .computing = sum.computing / count};
  }

  std::vector<std::vector<Part>> parts;  // by worker and step
  int runs = 0;
  double seconds = 0;  // of whole runs, the start and the end of the workers included
};

}  // namespace arion
