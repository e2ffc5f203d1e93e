// Factors of whole matrices, tensors NAME.scale.
#include <gtest/gtest.h>

#include <cstring>

#include "model/edit_model.h"
#include "runtime/model_fixture.h"

namespace arion {
namespace {

// The model with all matrices (in F32) multiplied by 4 and factors of 1/4 beside them.
std::string with_factors(const std::string& bytes) {
  test::Edit edit;
  const GgufFile file = test::open_in_memory(bytes);
  std::vector<std::string> names;
  for (const GgufTensor& tensor : file.tensors()) {
    if (tensor.rows() > 1) names.emplace_back(tensor.name);
  }
  edit.drop = names;
  edit.add = [&](GgufWriter& writer) {
    const auto add = [&](const std::string& name, std::span<const uint64_t> dims,
                         const std::vector<float>& values) {
      const auto data = std::as_bytes(std::span(values));
      writer.add_tensor(name, dims, 0, std::vector(data.begin(), data.end()));
    };
    for (const std::string& name : names) {
      const GgufTensor& tensor = file.require_tensor(name);
      std::vector<float> values(tensor.data.size() / sizeof(float));
      std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
      for (float& value : values) value *= 4;
      add(name, tensor.dims(), values);
      const std::string base = name.substr(0, name.size() - std::strlen(".weight"));
      const std::array<uint64_t, 1> one = {1};
      add(base + ".scale", one, {0.25f});
      add(base + ".input_scale", one, {3.0f});
    }
  };
  return test::edit_model(bytes, edit);
}

// Powers of two commute with every rounding, so the logits must be equal bit for bit: biases,
// embeddings, gates, heads and fused kernels included.
TEST(MatrixScale, FactorsUndoWhatTheMatricesWereMultipliedBy) {
  for (const char* arch : {"llama", "qwen2", "gemma3"}) {
    const std::string plain = test::write_tiny_model(test::tiny_shape(arch, 32));
    const std::string scaled = with_factors(plain);
    const std::vector<TokenId> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
    for (const char* passes : {"all", "none"}) {
      for (const char* isa : {"", "generic", "reference"}) {
        test::Setup setup;
        setup.model.passes = passes;
        setup.isa = isa;
        const test::Logits want = test::LoadedModel(plain, setup).logits(tokens, 8);
        const test::Logits got = test::LoadedModel(scaled, setup).logits(tokens, 8);
        EXPECT_TRUE(test::same_bits(got, want)) << arch << " " << passes << " " << isa;
      }
    }
  }
}

}  // namespace
}  // namespace arion
