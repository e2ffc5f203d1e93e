// Hugging Face folders: what config.json may say, and which files are refused.
#include "model/hf_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/model.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A copy of a golden folder that a test may damage.
class HfFolder : public testing::Test {
 protected:
  void use(const std::string& name) {
    fs::copy(test::source_dir() / "tests/golden/model/hf" / name, path_,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  void edit(const std::string& file, const std::function<void(json&)>& change) {
    json value = json::parse(test::read_file(path_ / file));
    change(value);
    std::ofstream(path_ / file) << value;
  }
  void expect_refused(const std::string& words) {
    try {
      describe_model(open_model(path_));
      ADD_FAILURE() << "accepted, expected: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }

  const test::TempDir folder_;
  const fs::path path_ = folder_.path();
};

TEST_F(HfFolder, RecommendedSamplingIsTakenOver) {
  use("llama");
  const GgufFile file = open_model(path_);
  EXPECT_EQ(file.metadata().get_float("general.sampling.temp"), 0.5);
  EXPECT_EQ(file.metadata().get_integer("general.sampling.top_k"), 7);
  EXPECT_EQ(file.metadata().get_float("general.sampling.top_p"), 0.75);
}

TEST_F(HfFolder, WeightsStayInTheFiles) {
  use("gemma3");
  const GgufFile file = open_model(path_);
  EXPECT_EQ(file.require_tensor("blk.0.attn_q.weight").type, 30u);    // BF16, in place
  EXPECT_EQ(file.require_tensor("blk.0.attn_norm.weight").type, 0u);  // F32, made with the 1
}

TEST_F(HfFolder, ConfigurationsThatCannotBeComputedAreNamed) {
  using Change = std::function<void(json&)>;
  const std::pair<Change, std::string> cases[] = {
      {[](json& c) { c["model_type"] = "mamba"; }, "model_type 'mamba' is not supported"},
      {[](json& c) { c.erase("hidden_size"); }, "hidden_size is missing"},
      {[](json& c) { c["hidden_size"] = -1; }, "hidden_size is -1"},
      {[](json& c) { c["hidden_act"] = "relu"; }, "hidden_act is \"relu\""},
      {[](json& c) { c["rope_parameters"]["rope_type"] = "dynamic"; }, "rope_type is \"dynamic\""},
      {[](json& c) { c["partial_rotary_factor"] = 0.5; }, "partial_rotary_factor"},
      {[](json& c) {
         c["quantization_config"] = {{"quant_method", "gptq"}};
       },
       "quant_method"},
      {[](json& c) { c["num_hidden_layers"] = 3; }, "blk.2.attn_norm.weight is missing"},
      {[](json& c) { c["num_hidden_layers"] = 1; }, "is not used by this architecture"},
      {[](json& c) { c["rope_parameters"]["factor"] = 0.5; }, "rope_parameters.factor is 0.5"},
      {[](json& c) {
         c.erase("rope_parameters");
         c["rope_scaling"] = {{"type", "su"}};
       },
       "rope_scaling.type is \"su\", expected default"},
      {[](json& c) {
         c.erase("rope_parameters");
         c["rope_scaling"] = 3;
       },
       "rope_scaling is 3, expected an object"},
      {[](json& c) {
         c["rope_parameters"] = {{"full_attention", 1}};
       },
       "rope_parameters.full_attention is 1, expected an object"},
      {[](json& c) { c = json::array(); }, "expected an object"},
  };
  for (const auto& [change, words] : cases) {
    use("llama");
    edit("config.json", change);
    expect_refused(words);
  }
}

TEST_F(HfFolder, FilesAreCheckedBeforeTheyAreOpened) {
  use("llama");
  edit("model.safetensors.index.json",
       [](json& index) { index["weight_map"]["lm_head.weight"] = "../elsewhere"; });
  expect_refused("expected a file of this folder");
  use("llama");
  fs::remove(path_ / "model-00002-of-00004.safetensors");
  expect_refused("model-00002-of-00004.safetensors");
  fs::remove(path_ / "config.json");
  expect_refused("has no config.json");
}

TEST_F(HfFolder, ScalesOfFp8MustFit) {
  use("qwen3");
  // Swaps the scales of two matrices of different shapes by renaming them in the header.
  std::string bytes = test::read_file(path_ / "model.safetensors");
  const std::string wide = "mlp.up_proj.weight_scale_inv", tall = "mlp.up_proj.weight_scale_inx";
  const size_t at = bytes.find(wide);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, wide.size(), tall);
  std::ofstream(path_ / "model.safetensors", std::ios::binary) << bytes;
  expect_refused("weight_scale_inx");
}

TEST_F(HfFolder, HostileWeightFilesAreRefusedByName) {
  for (const std::string& bytes : {std::string(), std::string("[]"), std::string(8, '\xff'),
                                   std::string("\x02\0\0\0\0\0\0\0[]", 10)}) {
    use("qwen3");
    std::ofstream(path_ / "model.safetensors", std::ios::binary) << bytes;
    expect_refused("model.safetensors");
  }
}

}  // namespace
}  // namespace arion
