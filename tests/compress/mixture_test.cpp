// Which types tensors get, on the tensor list of a model of 16 layers.
#include "compress/mixture.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "io/gguf_writer.h"

namespace arion {
namespace {

// Only the list matters: all tensors are F16 zeros of one row block.
std::string model_file(uint64_t hidden = 256, bool has_output = false, uint32_t experts = 0) {
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  writer.add_u32("llama.block_count", 16);
  writer.add_u32("llama.attention.head_count", 8);
  writer.add_u32("llama.attention.head_count_kv", 4);
  if (experts > 0) writer.add_u32("llama.expert_count", experts);
  const auto add = [&](const std::string& name, std::vector<uint64_t> dims) {
    uint64_t values = 1;
    for (const uint64_t ne : dims) values *= ne;
    writer.add_tensor(name, dims, 1, std::vector<std::byte>(2 * values));
  };
  add("token_embd.weight", {hidden, 2});
  add("output_norm.weight", {hidden});
  if (has_output) add("output.weight", {hidden, 2});
  for (int i = 0; i < 16; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    add(layer + "attn_norm.weight", {hidden});
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_gate"}) {
      add(layer + name + ".weight", {hidden, 2});
    }
    if (experts > 0) add(layer + "ffn_gate_inp.weight", {hidden, experts});
    add(layer + "ffn_down.weight", {hidden, 2});
  }
  return writer.bytes();
}

using Types = std::map<std::string, uint32_t, std::less<>>;

Types types_of(const std::string& bytes, const MixtureOptions& options) {
  const GgufFile file = GgufFile::parse(std::as_bytes(std::span(bytes)));
  const auto choices = choose_types(file, options);
  Types types;
  for (size_t i = 0; i < choices.size(); ++i) {
    types[std::string(file.tensors()[i].name)] = choices[i].type;
  }
  return types;
}

constexpr uint32_t kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ5_0 = 6, kQ8_0 = 8, kQ3_K = 11, kQ4_K = 12,
                   kQ5_K = 13, kQ6_K = 14;

TEST(Mixture, Q4KMediumGivesMoreToValuesAndDownProjectionsAtBothEnds) {
  const Types types = types_of(model_file(), {.mixture = require_mixture("Q4_K_M")});
  EXPECT_EQ(types.at("token_embd.weight"), kQ6_K) << "is the output matrix as well";
  EXPECT_EQ(types.at("output_norm.weight"), kF32);
  EXPECT_EQ(types.at("blk.0.attn_q.weight"), kQ4_K);
  for (const int more : {0, 1, 4, 7, 10, 13, 14, 15}) {
    const std::string layer = "blk." + std::to_string(more);
    EXPECT_EQ(types.at(layer + ".attn_v.weight"), kQ6_K) << more;
    EXPECT_EQ(types.at(layer + ".ffn_down.weight"), kQ6_K) << more;
  }
  for (const int plain : {2, 3, 5, 6, 8, 9, 11, 12}) {
    EXPECT_EQ(types.at("blk." + std::to_string(plain) + ".ffn_down.weight"), kQ4_K) << plain;
  }
}

TEST(Mixture, Q3KMediumMixesThreeTypes) {
  const Types types = types_of(model_file(256, true), {.mixture = require_mixture("q3_k")});
  EXPECT_EQ(types.at("output.weight"), kQ6_K);
  EXPECT_EQ(types.at("token_embd.weight"), kQ3_K);
  EXPECT_EQ(types.at("blk.1.attn_v.weight"), kQ5_K);
  EXPECT_EQ(types.at("blk.2.attn_v.weight"), kQ4_K);
  EXPECT_EQ(types.at("blk.0.ffn_down.weight"), kQ5_K);
  EXPECT_EQ(types.at("blk.1.ffn_down.weight"), kQ4_K);
  EXPECT_EQ(types.at("blk.1.attn_output.weight"), kQ4_K);
  EXPECT_EQ(types.at("blk.1.attn_k.weight"), kQ3_K);
}

TEST(Mixture, RowsThatDoNotDivideFallBackToBlocksOf32OrToF16) {
  const MixtureOptions options{.mixture = require_mixture("Q4_K_S")};
  EXPECT_EQ(types_of(model_file(288), options).at("blk.9.attn_q.weight"), kQ5_0);
  EXPECT_EQ(types_of(model_file(288), options).at("token_embd.weight"), kQ8_0);
  EXPECT_EQ(types_of(model_file(40), options).at("blk.9.attn_q.weight"), kF16);
}

TEST(Mixture, ModelsOfEightExpertsKeepTheirKeysAndRouters) {
  const Types types = types_of(model_file(256, true, 8), {.mixture = require_mixture("Q4_K_S")});
  EXPECT_EQ(types.at("blk.3.attn_k.weight"), kQ8_0);
  EXPECT_EQ(types.at("blk.3.attn_v.weight"), kQ8_0);
  EXPECT_EQ(types.at("blk.3.attn_output.weight"), kQ5_K);
  EXPECT_EQ(types.at("blk.3.ffn_gate_inp.weight"), kF16);
}

TEST(Mixture, OverridesGoFirstAndPureMixturesAreOfOneType) {
  const std::vector<TypeOverride> overrides = {parse_type_override("blk.?.attn_v.weight=q8_0"),
                                               parse_type_override("blk.*.attn_v*=source")};
  const Types types = types_of(
      model_file(), {.mixture = require_mixture("Q4_0"), .overrides = overrides, .is_pure = true});
  EXPECT_EQ(types.at("blk.9.attn_v.weight"), kQ8_0);
  EXPECT_EQ(types.at("blk.10.attn_v.weight"), kF16);
  EXPECT_EQ(types.at("blk.10.attn_k.weight"), kQ4_0);
  EXPECT_EQ(types.at("token_embd.weight"), kQ4_0);
}

TEST(Mixture, UnknownNamesAreRefused) {
  EXPECT_THROW(require_mixture("Q4_K_XL"), Error);
  try {
    require_mixture("");
    ADD_FAILURE() << "a mixture without a name";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("unknown type ''; known are "));
  }
  for (const char* text : {"", "=Q8_0", "blk", "blk.*=", "blk.*=Q9"}) {
    EXPECT_THROW(parse_type_override(text), Error) << text;
  }
  for (const char* text : {"blk.?.attn_x*=F16", "*norm.weight=Q8_0"}) {
    const std::vector<TypeOverride> useless = {parse_type_override(text)};
    EXPECT_THROW(types_of(model_file(), {.mixture = require_mixture("Q4_0"), .overrides = useless}),
                 Error)
        << text;
  }
}

}  // namespace
}  // namespace arion
