// arion explain: the graph of a model, what the passes make of it, its plan, memory and numerics.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assembly/model_path.h"
#include "base/error.h"
#include "base/worker_count.h"
#include "command.h"
#include "compiled_text.h"
#include "load_options.h"
#include "memory_text.h"
#include "model/hf_folder.h"
#include "number_option.h"
#include "roofline.h"
#include "runtime/memory_plan.h"
#include "runtime/numerics_profile.h"
#include "step_measurement.h"

namespace arion::app {
namespace {

using nlohmann::ordered_json;

struct ExplainOptions {
  LoadOptions load;
  int rows = 1;
  int depth = 512;
  double bandwidth = 0;  // GB/s
  double peak = 0;       // billions of multiply-adds per second
  bool json = false;
  bool is_measured = false;
};

struct PassReport {
  Pass pass;
  bool is_run = false, has_changed = false;
  size_t nodes = 0;  // afterwards
};

// Everything that is printed. Weights are not loaded.
struct Explanation {
  std::string path, isa;
  ModelOptions options;
  std::optional<Model> model;
  CompiledSearch compiled;
  size_t built_nodes = 0;
  std::vector<PassReport> passes;
  KernelRegistry kernels;
  std::unique_ptr<WorkerPool> pool;
  ExecutionPlan plan;
  std::vector<PlanStepCost> costs;
  double bandwidth = 0;                 // bytes per second
  std::map<std::string, double> peaks;  // multiply-adds per second by form and weights
  MemoryPlan memory;
  std::optional<StepMeasurement> measured;

  double seconds() const {
    double sum = 0;
    for (const PlanStepCost& cost : costs) sum += cost.seconds;
    return sum;
  }
};

std::vector<PassReport> run_and_report(Graph& graph, const ModelOptions& options) {
  const std::vector<Pass> selected = select_passes(options.passes);
  std::vector<PassReport> reports;
  std::string text = print_graph(graph);
  for (const Pass& pass : all_passes()) {
    PassReport report{.pass = pass};
    for (const Pass& chosen : selected) {
      report.is_run = report.is_run || chosen.name == std::string_view(pass.name);
    }
    if (report.is_run) {
      run_passes(graph, std::span(&pass, 1), {.activations = options.activations});
      std::string after = print_graph(graph);
      report.has_changed = after != text;
      text = std::move(after);
    }
    report.nodes = graph.nodes.size();
    reports.push_back(report);
  }
  return reports;
}

// Needs the weights, unlike everything else.
void measure_model(const ExplainOptions& options, const GlobalOptions& global, Explanation& e) {
  LoadOptions load = options.load;
  load.context = options.depth + options.rows;
  load.step_tokens = std::max(options.rows, load.step_tokens);
  load.logit_rows = kGenerationLogitRows;
  LoadedModel loaded = load_model(load, global);
  e.measured = measure_steps(loaded, options.rows, options.depth);
}

void explain_model(const ExplainOptions& options, const GlobalOptions& global, Explanation& e) {
  e.options = model_options(options.load);
  const IsaLevel level = choose_isa(global.isa);
  const auto path = resolve_model(options.load.model);
  e.path = path.string();
  e.isa = isa_name(level);
  e.model = describe_model(open_model(path));
  e.built_nodes = e.model->graph.nodes.size();
  e.passes = run_and_report(e.model->graph, e.options);
  e.compiled = find_compiled(options.load.compiled, path, *e.model);
  register_cpu_kernels(e.kernels, level);
  const int threads = options.load.threads;
  e.pool = std::make_unique<WorkerPool>(threads > 0 ? threads : default_worker_count());

  const RunnerLimits limits{.context_tokens = options.load.context,
                            .logit_rows = kGenerationLogitRows};
  e.memory = plan_memory(*e.model, e.options, limits, e.pool->size());
  if (options.rows > e.memory.limits.context_tokens) {
    fail(ErrorCode::usage, "--rows {}: the context has {} tokens", options.rows,
         e.memory.limits.context_tokens);
  }
  const PlanShape shape{
      .rows = options.rows, .output_rows = 1, .workers = e.pool->size(), .kv = e.options.kv_type()};
  const PackedWeights shapes = PackedWeights::shapes_of(e.model->graph);
  e.plan = Planner(e.model->graph, shapes, e.kernels).plan(shape, nullptr);
  Roofline roofline(e.kernels, *e.pool, options.bandwidth * 1e9, options.peak * 1e9);
  for (const PlanStep& step : e.plan.steps) {
    e.costs.push_back(roofline.cost(step, shape, options.depth));
  }
  e.bandwidth = roofline.bandwidth();
  e.peaks = roofline.peaks();
  if (options.is_measured) measure_model(options, global, e);
}

const char* bound_name(const PlanStepCost& cost) {
  if (cost.seconds == 0) return "";
  return cost.is_compute_bound ? "compute" : "memory";
}

void print_plan(const Explanation& e, const ExplainOptions& options) {
  const double total = e.seconds();
  fmt::print("\nPlan for {} row{} after {} tokens, {} threads\n", options.rows,
             options.rows == 1 ? "" : "s", options.depth, e.plan.shape.workers);
  fmt::print("  | a barrier before the step, * repeated by every thread, o output rows only\n");
  fmt::print("  {:>4}     {:<12} {:<12} {:<32} {:>9} {:>9} {:>9} {:>6}  {:<7}{}\n", "step", "scope",
             "op", "kernel", "KiB", "M mul-add", "us", "share", "bound",
             e.measured ? "   us taken   us waited" : "");
  PlanStepCost sum;
  int barriers = 0;
  for (size_t s = 0; s < e.plan.steps.size(); ++s) {
    const PlanStep& step = e.plan.steps[s];
    const PlanStepCost& cost = e.costs[s];
    sum.bytes += cost.bytes;
    sum.multiply_adds += cost.multiply_adds;
    barriers += step.has_barrier ? 1 : 0;
    fmt::print("  {:>4} {}{}{} {:<12} {:<12} {:<32} {:>9.1f} {:>9.3f} {:>9.2f} {:>5.1f}%  {:<7}", s,
               step.has_barrier ? '|' : ' ', step.is_replicated ? '*' : ' ',
               step.rows == RowsKind::output ? 'o' : ' ', step.scope, op_name(step.kind),
               step.kernel->name, cost.bytes / 1024, cost.multiply_adds / 1e6, cost.seconds * 1e6,
               total > 0 ? 100 * cost.seconds / total : 0.0, bound_name(cost));
    if (e.measured) {
      const StepTimes::Part taken = e.measured->times.mean(s);
      fmt::print("  {:>9.2f}   {:>9.2f}", taken.computing * 1e6, taken.waiting * 1e6);
    }
    fmt::print("\n");
  }
  fmt::print(
      "  {} steps, {} barriers, {:.1f} MiB read, {:.1f} M multiply-adds, {:.3f} ms at the "
      "roofline",
      e.plan.steps.size(), barriers, sum.bytes / (1 << 20), sum.multiply_adds / 1e6, total * 1e3);
  if (total > 0) fmt::print(" = {:.1f} tokens/s", options.rows / total);
  fmt::print("\n  bandwidth {:.1f} GB/s", e.bandwidth / 1e9);
  for (const auto& [name, peak] : e.peaks) fmt::print(", {} {:.1f} G mul-add/s", name, peak / 1e9);
  if (options.peak > 0) fmt::print(", peak {:.1f} G mul-add/s as given", options.peak);
  fmt::print("\n");
  if (e.measured) print_measurement(*e.measured, barriers);
}

void print_explanation(const Explanation& e, const ExplainOptions& options) {
  fmt::print("{}\narchitecture {}, {} layers, isa {}\n", printable(e.path, 4096),
             e.model->config.spec->name, e.model->config.layers.size(), e.isa);
  fmt::print("profile: {}\n{}\n", numerics_profile(e.options, e.plan), compiled_text(e.compiled));
  fmt::print("\nPasses\n  {:<20} {:>5} nodes\n", "(as built)", e.built_nodes);
  for (const PassReport& report : e.passes) {
    fmt::print("  {:<20} {:>5} nodes{}\n", report.pass.name, report.nodes,
               !report.is_run       ? "  (off)"
               : report.has_changed ? ""
                                    : "  (nothing to do)");
  }
  fmt::print("\nGraph\n{}", print_graph(e.model->graph));
  print_plan(e, options);
  fmt::print("\n{}", memory_text(e.memory, e.pool->size()));
}

ordered_json plan_json(const Explanation& e, const ExplainOptions& options) {
  ordered_json steps = ordered_json::array();
  PlanStepCost sum;
  for (size_t s = 0; s < e.plan.steps.size(); ++s) {
    const PlanStep& step = e.plan.steps[s];
    const PlanStepCost& cost = e.costs[s];
    sum.bytes += cost.bytes;
    sum.multiply_adds += cost.multiply_adds;
    ordered_json json = {{"scope", step.scope},
                         {"op", op_name(step.kind)},
                         {"kernel", step.kernel->name},
                         {"arithmetic", step.kernel->arithmetic},
                         {"barrier", step.has_barrier},
                         {"replicated", step.is_replicated},
                         {"rows", step.rows == RowsKind::output ? "output" : "all"},
                         {"bytes", cost.bytes},
                         {"multiply_adds", cost.multiply_adds},
                         {"seconds", cost.seconds},
                         {"share", e.seconds() > 0 ? cost.seconds / e.seconds() : 0.0}};
    if (e.measured) {
      json["taken_s"] = e.measured->times.mean(s).computing;
      json["waited_s"] = e.measured->times.mean(s).waiting;
    }
    json["bound"] = cost.seconds > 0 ? ordered_json(bound_name(cost)) : ordered_json();
    steps.push_back(std::move(json));
  }
  return {{"rows", options.rows},
          {"depth", options.depth},
          {"threads", e.plan.shape.workers},
          {"bandwidth_bytes_per_s", e.bandwidth},
          {"peak_multiply_adds_per_s", e.peaks},
          {"bytes", sum.bytes},
          {"multiply_adds", sum.multiply_adds},
          {"seconds", e.seconds()},
          {"steps", std::move(steps)}};
}

void print_json(const Explanation& e, const ExplainOptions& options) {
  ordered_json passes = ordered_json::array();
  size_t before = e.built_nodes;
  for (const PassReport& report : e.passes) {
    passes.push_back({{"name", report.pass.name},
                      {"optional", report.pass.is_optional},
                      {"run", report.is_run},
                      {"changed", report.has_changed},
                      {"nodes_before", before},
                      {"nodes_after", report.nodes}});
    before = report.nodes;
  }
  ordered_json out = {{"model", e.path},
                      {"architecture", e.model->config.spec->name},
                      {"layers", e.model->config.layers.size()},
                      {"isa", e.isa},
                      {"profile", numerics_profile(e.options, e.plan)},
                      {"arithmetic", arithmetic_tags(e.plan)},
                      {"compiled", compiled_json(e.compiled)},
                      {"passes", std::move(passes)},
                      {"graph", print_graph(e.model->graph)},
                      {"plan", plan_json(e, options)},
                      {"memory", memory_json(e.memory)}};
  if (e.measured) out["measured"] = measurement_json(*e.measured);
  fmt::print("{}\n", out.dump(1, ' ', false, ordered_json::error_handler_t::replace));
}

void explain(const ExplainOptions& options, const GlobalOptions& global) {
  Explanation explanation;
  explain_model(options, global, explanation);
  if (options.json) {
    print_json(explanation, options);
  } else {
    print_explanation(explanation, options);
  }
}

}  // namespace

void command_explain(CLI::App& program, const GlobalOptions& global) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = program.add_subcommand(
      "explain", "Shows how a model will be run: graph, passes, plan, memory and numerics");
  add_load_options(*command, options->load);
  add_context_option(*command, options->load);
  add_passes_option(*command, options->load);
  command->add_option("--rows", options->rows, "Tokens of the step that is planned")
      ->check(number_from(1, 1 << 16))
      ->capture_default_str();
  command->add_option("-d,--depth", options->depth, "Tokens before the step")
      ->check(number_from(0, 1 << 26))
      ->capture_default_str();
  command
      ->add_option("--bandwidth", options->bandwidth,
                   "Memory bandwidth in GB/s (default: measured)")
      ->check(number_from(0.0, 1e6));
  command
      ->add_option("--peak", options->peak,
                   "Billions of multiply-adds per second (default: measured per weight format)")
      ->check(number_from(0.0, 1e9));
  command->add_flag("--measure", options->is_measured,
                    "Load the weights, and show what the steps take and how long threads wait");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  arion explain model.gguf\n"
      "  arion explain model.gguf --rows 512 -t 8 --json | jq .plan.seconds\n"
      "  arion explain model.gguf --passes none");
  command->callback([options, &global] { explain(*options, global); });
}

}  // namespace arion::app
