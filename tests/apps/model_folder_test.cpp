// Commands on Hugging Face folders, and template files beside models.
#include "chat_models.h"
#include "program.h"

namespace arion::test {
namespace {

// Words a to z after four special tokens; only the words are ever answers of 64-row models.
std::string tokenizer_json() {
  nlohmann::json vocabulary = {{"[unk]", 0}};
  for (int letter = 0; letter < 26; ++letter) {
    vocabulary[std::string(1, static_cast<char>('a' + letter))] = 4 + letter;
  }
  nlohmann::json added = nlohmann::json::array();
  for (const char* text : {"<s>", "<|im_start|>", "<|im_end|>"}) {
    vocabulary[text] = added.size() + 1;
    added.push_back({{"id", added.size() + 1}, {"content", text}, {"special", true}});
  }
  return nlohmann::json{
      {"added_tokens", added},
      {"pre_tokenizer", {{"type", "Whitespace"}}},
      {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "[unk]"}}}}
      .dump();
}

class ModelFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("model/tokenizer.json", tokenizer_json());
    folder_.write("model/tokenizer_config.json",
                  R"({"bos_token": "<s>", "chat_template": "{{ bos_token }}b{{ extra }}"})");
    folder_.write("chat.json", R"([{"role": "user", "content": "a"}])");
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Outcome render(const std::string& arguments) const {
    return run_arion("render --messages " + path("chat.json") + " " + arguments);
  }

  const TempDir folder_;
};

TEST_F(ModelFolder, TextNeedsNoWeights) {
  EXPECT_EQ(run_arion("tokenize " + path("model"), "a <s> c").out, "4 1 6\n");
  EXPECT_EQ(run_arion("detokenize " + path("model"), "4 5").out, "a b");
  EXPECT_EQ(render("--ids " + path("model")).out, "1 5\n");
  EXPECT_EQ(render("--set extra=c " + path("model")).out, "<s>bc");
}

TEST_F(ModelFolder, TemplateFilesReplaceAllOtherTemplates) {
  folder_.write("model/tokenizer_config.json",
                R"({"bos_token": "<s>", "chat_template": [{"name": "default", "template": "b"},
                    {"name": "old", "template": "c"}]})");
  EXPECT_EQ(render("--name old " + path("model")).out, "c");
  folder_.write("model/chat_template.jinja", "{{ bos_token }}file");
  folder_.write("model/additional_chat_templates/tool_use.jinja", "tools");
  EXPECT_EQ(render(path("model")).out, "<s>file");
  EXPECT_EQ(render("--name tool_use " + path("model")).out, "tools");
  EXPECT_EQ(render("--name old " + path("model")).exit_code, 2);
}

TEST_F(ModelFolder, TheFamilyDecidesWithoutATemplate) {
  folder_.write("model/tokenizer_config.json", "{}");
  EXPECT_EQ(render(path("model")).out, "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
}

TEST_F(ModelFolder, ATemplateFileBesideAGgufFileIsItsTemplate) {
  const std::string model = folder_.write("gguf/chat.gguf", chatml_model()).string();
  EXPECT_EQ(render(model).out.substr(0, 12), "<|im_start|>");
  folder_.write("gguf/chat_template.jinja", "{{ messages[0].content }}!");
  EXPECT_EQ(render(model).out, "a!");
}

TEST_F(ModelFolder, RunAnswersWithTheTokenizerOfTheFolder) {
  std::filesystem::copy(source_dir() / "tests/golden/model/hf/llama", path("model"),
                        std::filesystem::copy_options::recursive);
  const Outcome outcome = run_arion("run --json --temp 0 -n 3 -p a " + path("model"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(result["prompt_tokens"], (std::vector<int>{1, 5}));
  EXPECT_EQ(result["tokens"].size(), 3u);
}

}  // namespace
}  // namespace arion::test
