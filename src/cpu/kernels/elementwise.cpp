// rope_angles, glu, select_rows and embed: whole rows, split by rows.
#include "base/real_math.h"
#include "cpu/kernels/convert.h"
#include "cpu/kernels/math.h"
#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Angles in double: f32 would lose the fraction of large positions.
void rope_angles_row(const RopeAnglesArgs& args, const StepInput& input, int row,
                     const Worker& worker) {
  float* x = reinterpret_cast<float*>(worker.scratch);
  const double position = input.all.position[row];
  for (int pair = 0; pair < args.pairs; ++pair) {
    const real::SinCos of = real::sincos(position * args.inverse_frequencies[pair]);
    x[pair] = static_cast<float>(of.cos) * args.magnitude;
    x[args.pairs + pair] = static_cast<float>(of.sin) * args.magnitude;
  }
  const int cols = 2 * args.pairs;
  store_f32_columns(x, 0, cols, args.out.at<std::byte>(worker.index), cols, row);
}

// Columns that pass through scratch at a time: in the L1 cache, whole int8 blocks.
constexpr int kPassCols = 1024;

template <Activation activation>
void glu_columns(const float* gate, const float* up, float* to, int cols) {
  for (int c = 0; c < cols; c += kLanes) {
    const int n = lanes_left(c, cols);
    const F32 g = F32::load_first(gate + c, n);
    const F32 active = activation == Activation::silu ? silu(g) : gelu_tanh(g);
    (active * F32::load_first(up + c, n)).store_first(to + c, n);
  }
}

void glu_row(const GluArgs& args, const StepInput& /*input*/, int row, const Worker& worker) {
  float* y = reinterpret_cast<float*>(worker.scratch);
  const float* gate = f32_row(args.gate, worker.index, args.cols, row);
  const float* up = f32_row(args.up, worker.index, args.cols, row);
  for (int c = 0; c < args.cols; c += kPassCols) {
    const int n = c + kPassCols < args.cols ? kPassCols : args.cols - c;
    args.activation == Activation::silu
        ? glu_columns<Activation::silu>(gate + c, up + c, y, n)
        : glu_columns<Activation::gelu_tanh>(gate + c, up + c, y, n);
    store_outputs(args.out, worker.index, y, c, n, args.cols, row);
  }
}

void select_row(const SelectRowsArgs& args, const StepInput& input, int row, const Worker& worker) {
  const float* x = f32_row(args.x, worker.index, args.cols, input.output_index[row]);
  store_f32_columns(x, 0, args.cols, args.out.at<std::byte>(worker.index), args.cols, row);
}

void embed_row(const EmbedArgs& args, const StepInput& input, int row, const Worker& worker) {
  const int token = input.tokens[row];
  const size_t bytes = panel_bytes(args.format->panel(), args.cols);
  const std::byte* panel = args.panels + static_cast<size_t>(token / kPanelRows) * bytes;
  float* out = f32_row(args.out, worker.index, args.cols, row);
  args.format->unpack_row({panel, bytes}, token % kPanelRows,
                          {out, static_cast<size_t>(args.cols)});
  const F32 scale = F32::set1(args.scale);
  for (int c = 0; c < args.cols; c += kLanes) {
    const int n = lanes_left(c, args.cols);
    (F32::load_first(out + c, n) * scale).store_first(out + c, n);
  }
  for (int c = args.cols; c < padded_cols(args.cols); ++c) out[c] = 0;
}

int rows_of(const GluArgs& args, const StepInput& input) {
  return input.rows(args.rows).count;
}
int rows_of(const SelectRowsArgs&, const StepInput& input) {
  return input.output.count;
}
int rows_of(const EmbedArgs&, const StepInput& input) {
  return input.all.count;
}
int rows_of(const RopeAnglesArgs&, const StepInput& input) {
  return input.all.count;
}

float row_ns(const GluArgs& args) {
  return 1.0f * static_cast<float>(args.cols);
}
float row_ns(const SelectRowsArgs& args) {
  return 0.2f * static_cast<float>(args.cols);
}
float row_ns(const EmbedArgs& args) {
  return 2.0f * static_cast<float>(args.cols);
}
float row_ns(const RopeAnglesArgs& args) {
  return 50.0f * static_cast<float>(args.pairs);
}

template <typename Args>
int chunks(const void* args, const StepInput& input, int /*workers*/) {
  const auto& a = *static_cast<const Args*>(args);
  return row_chunks(rows_of(a, input), row_ns(a));
}

template <typename Args, void (*one_row)(const Args&, const StepInput&, int, const Worker&)>
void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const Args*>(args);
  const Range rows = rows_of_chunk(rows_of(a, input), chunk, chunks);
  for (int row = rows.begin; row < rows.end; ++row) one_row(a, input, row, worker);
}

template <typename Args, OpKind kind,
          void (*one_row)(const Args&, const StepInput&, int, const Worker&)>
Kernel row_kernel(const char* name, const char* arithmetic) {
  return {.name = name,
          .arithmetic = arithmetic,
          .rank = kIsaRank,
          .supports = supports_kinds<kind>,
          .chunks = chunks<Args>,
          .run = run<Args, one_row>};
}

}  // namespace

namespace elementwise {

void register_kernels(KernelRegistry& registry) {
  using enum OpKind;
  registry.add(row_kernel<RopeAnglesArgs, rope_angles, rope_angles_row>(
      ARION_KERNEL_NAME("rope_angles"), "rope_angles.f64"));
  registry.add(row_kernel<GluArgs, glu, glu_row>(ARION_KERNEL_NAME("glu"), "glu.f32"));
  registry.add(row_kernel<SelectRowsArgs, select_rows, select_row>(ARION_KERNEL_NAME("select_rows"),
                                                                   "select_rows"));
  registry.add(row_kernel<EmbedArgs, embed, embed_row>(ARION_KERNEL_NAME("embed"), "embed.f32"));
}

}  // namespace elementwise
}  // namespace arion::cpu::ARION_ISA
