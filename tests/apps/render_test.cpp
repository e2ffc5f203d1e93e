// arion render.
#include <gtest/gtest.h>

#include "program.h"

namespace arion::test {
namespace {

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}{{ extra }}";

class Render : public testing::Test {
 protected:
  Outcome render(const std::string& arguments, const std::string& messages) const {
    folder_.write("chat.json", messages);
    return run_arion("render --template " + path("t.jinja") + " --messages " + path("chat.json") +
                     " " + arguments);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void SetUp() override { folder_.write("t.jinja", kTemplate); }

  const TempDir folder_;
};

TEST_F(Render, PrintsThePromptAlone) {
  const Outcome outcome =
      render("--set 'bos_token=<s>' --set extra=1.50", R"([{"role": "user", "content": "a\n"}])");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "<s><user>a\n<assistant>1.5");
}

TEST_F(Render, TakesVariablesFromTheFileAndContinues) {
  const Outcome outcome = render(
      "--continue", R"({"messages": [{"role": "assistant", "content": "So "}], "extra": "!"})");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "<assistant>So ");
}

TEST_F(Render, TellsTheTemplateTheTimeItIsGiven) {
  folder_.write("t.jinja", "{{ strftime_now('%d %b %Y, %H:%M, %A') }}");
  EXPECT_EQ(render("--now 2024-02-29T08:05", "[]").out, "29 Feb 2024, 08:05, Thursday");
  EXPECT_EQ(render("--now yesterday", "[]").exit_code, 2);
}

TEST_F(Render, BadInputIsExplained) {
  Outcome outcome = render("", "{");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("not JSON"), std::string::npos) << outcome.err;
  EXPECT_EQ(render("--set x", "[]").exit_code, 2);
  folder_.write("t.jinja", "{% if %}");
  outcome = render("", "[]");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("line 1, column 7"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace arion::test
