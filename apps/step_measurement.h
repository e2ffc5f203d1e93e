// What the steps of a model take when they run, beside the limits of that moment.
#pragma once
#include <nlohmann/json.hpp>

#include "assembly/loaded_model.h"
#include "graph/step_times.h"

namespace arion::app {

struct StepMeasurement {
  StepTimes times;
  int rows = 1;
  double limit = 0;  // tokens per second, see decode_limit and prefill_limit

  double step_seconds() const { return times.seconds / times.runs; }
  double tokens_per_s() const { return rows / step_seconds(); }
  bool is_prefill() const { return rows > 1; }
  // Of one step: of the kernels and at barriers, the mean over the workers, and the rest.
  double computing() const;
  double waiting() const;
  double outside() const { return step_seconds() - computing() - waiting(); }
};

// Runs the step of `rows` tokens after `depth` others again and again, for about half a second.
StepMeasurement measure_steps(LoadedModel& loaded, int rows, int depth);

void print_measurement(const StepMeasurement& measured, int barriers);
nlohmann::ordered_json measurement_json(const StepMeasurement& measured);

}  // namespace arion::app
