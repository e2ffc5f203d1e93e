// Reference of the operations that treat every row by itself.
#include "op/reference.h"

#include <cmath>

#include "base/check.h"
#include "base/real_math.h"
#include "op/reference_matrix.h"

namespace arion {
namespace {

// values * gain / sqrt(mean(values^2) + eps)
void normalise(std::span<double> values, const float* gain, float eps) {
  double squares = 0;
  for (const double v : values) squares += v * v;
  const double inverse = 1 / std::sqrt(squares / static_cast<double>(values.size()) + eps);
  for (size_t c = 0; c < values.size(); ++c) values[c] *= inverse * gain[c];
}

double to_f32(double x) {
  return static_cast<float>(x);
}

}  // namespace

double reference_activation(Activation activation, double x) {
  if (activation == Activation::silu) return x / (1 + real::exp(-x));
  // 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)); the constant is sqrt(2 / pi).
  const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);
  return x / (1 + real::exp(-2 * u));
}

void reference_embed(const EmbedArgs& args, const StepInput& input) {
  const size_t bytes = panel_bytes(args.format->panel(), args.cols);
  std::vector<float> row(args.cols);
  for (int i = 0; i < input.all.count; ++i) {
    const int token = input.tokens[i];
    const std::byte* panel = args.panels + static_cast<size_t>(token / kPanelRows) * bytes;
    args.format->unpack_row({panel, bytes}, token % kPanelRows, row);
    std::vector<double> values(row.begin(), row.end());
    for (double& v : values) v *= args.scale;
    reference_store(args.out, i, values);
  }
}

void reference_rope_angles(const RopeAnglesArgs& args, const StepInput& input) {
  std::vector<double> values(2 * args.pairs);
  for (int i = 0; i < input.all.count; ++i) {
    for (int pair = 0; pair < args.pairs; ++pair) {
      const double angle = input.all.position[i] * args.inverse_frequencies[pair];
      const real::SinCos of = real::sincos(angle);
      values[pair] = to_f32(of.cos) * args.magnitude;
      values[args.pairs + pair] = to_f32(of.sin) * args.magnitude;
    }
    reference_store(args.out, i, values);
  }
}

void reference_norm(const NormArgs& args, const StepInput& input) {
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    std::vector<double> s = reference_load(args.x, ActivationForm::f32, i, args.cols);
    if (args.delta) {
      std::vector<double> delta = reference_load(args.delta, ActivationForm::f32, i, args.cols);
      if (args.delta_gain != nullptr) normalise(delta, args.delta_gain, args.eps);
      for (int c = 0; c < args.cols; ++c) s[c] = to_f32(s[c] + delta[c]);
      if (args.sum) reference_store(args.sum, i, s);
    }
    if (args.gain == nullptr) continue;
    normalise(s, args.gain, args.eps);
    reference_store(args.out, i, s);
  }
}

void reference_convert(const ConvertArgs& args, const StepInput& input) {
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    reference_store(args.out, i, reference_load(args.x, ActivationForm::f32, i, args.cols));
  }
}

void reference_add(const AddArgs& args, const StepInput& input) {
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    std::vector<double> a = reference_load(args.a, ActivationForm::f32, i, args.cols);
    const std::vector<double> b = reference_load(args.b, ActivationForm::f32, i, args.cols);
    for (int c = 0; c < args.cols; ++c) a[c] += b[c];
    reference_store(args.out, i, a);
  }
}

void reference_glu(const GluArgs& args, const StepInput& input) {
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    std::vector<double> gate = reference_load(args.gate, ActivationForm::f32, i, args.cols);
    const std::vector<double> up = reference_load(args.up, ActivationForm::f32, i, args.cols);
    for (int c = 0; c < args.cols; ++c) {
      gate[c] = reference_activation(args.activation, gate[c]) * up[c];
    }
    reference_store(args.out, i, gate);
  }
}

void reference_select_rows(const SelectRowsArgs& args, const StepInput& input) {
  for (int i = 0; i < input.output.count; ++i) {
    const int from = input.output_index[i];
    CHECK(from >= 0 && from < input.all.count);
    reference_store(args.out, i, reference_load(args.x, ActivationForm::f32, from, args.cols));
  }
}

void reference_head(const HeadArgs& args, const StepInput& input) {
  const int cols = args.heads * args.head_dim;
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    std::vector<double> row = reference_load(args.x, ActivationForm::f32, i, cols);
    for (int head = 0; head < args.heads; ++head) {
      const std::span<double> values{row.data() + head * args.head_dim,
                                     static_cast<size_t>(args.head_dim)};
      reference_apply_head(values, args, input, i, head);
    }
    if (args.out) reference_store(args.out, i, row);
  }
}

}  // namespace arion
