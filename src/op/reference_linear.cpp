// Reference of linear and its fusions.
#include "base/half.h"
#include "op/reference.h"
#include "op/reference_matrix.h"
#include "quant/panel_pack.h"

namespace arion {
namespace {

using Matrix = std::vector<std::vector<double>>;

// Weights of one output feature as the activation form sees them.
std::vector<float> weight_row(const PanelMatrix& weight, ActivationForm form, int feature) {
  const size_t bytes = panel_bytes(weight.spec, weight.cols);
  const std::byte* panel = weight.panels + static_cast<size_t>(feature / kPanelRows) * bytes;
  std::vector<float> row(weight.cols);
  unpack_panel_row(weight.spec, {panel, bytes}, feature % kPanelRows, row);
  if (form == ActivationForm::bf16) {
    for (float& w : row) w = bfloat16_to_float(float_to_bfloat16(w));
  }
  return row;
}

// x W^T * scale + bias: [rows, weight.rows]
Matrix product(const Matrix& x, const PanelMatrix& weight, ActivationForm form, const float* bias) {
  Matrix y(x.size(), std::vector<double>(weight.rows));
  for (int feature = 0; feature < weight.rows; ++feature) {
    const std::vector<float> w = weight_row(weight, form, feature);
    for (size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (int c = 0; c < weight.cols; ++c) sum += w[c] * x[i][c];
      y[i][feature] = sum * weight.scale + (bias != nullptr ? bias[feature] : 0);
    }
  }
  return y;
}

}  // namespace

void reference_linear(const LinearArgs& args, const StepInput& input) {
  Matrix x;
  for (int i = 0; i < input.rows(args.rows).count; ++i) {
    x.push_back(reference_load(args.x, args.form, i, args.weight.cols));
  }
  Matrix y = product(x, args.weight, args.form, args.bias);
  Matrix up;
  if (args.kind == OpKind::linear_glu) up = product(x, args.up, args.form, args.up_bias);

  const int cols = args.weight.rows;
  for (int i = 0; i < static_cast<int>(y.size()); ++i) {
    std::vector<double>& row = y[i];
    if (args.kind == OpKind::linear_add) {
      const std::span<const float> residual = reference_f32_row(args.residual, i, cols);
      for (int c = 0; c < cols; ++c) row[c] += residual[c];
    }
    if (args.kind == OpKind::linear_glu) {
      for (int c = 0; c < cols; ++c) {
        row[c] = reference_activation(args.activation, row[c]) * up[i][c];
      }
    }
    if (args.kind == OpKind::linear_head) {
      const auto dim = static_cast<size_t>(args.head.head_dim);
      for (int head = 0; head < args.head.heads; ++head) {
        reference_apply_head({row.data() + head * dim, dim}, args.head, input, i, head);
      }
    }
    reference_store(args.out, i, row);
  }
}

}  // namespace arion
