// Real chat templates and unit cases of other engines, with what Python's Jinja2 makes of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jinja/render.h"
#include "test_data.h"

namespace arion {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path chat_dir() {
  return test::corpus_dir() / "data" / "chat";
}

Json read_json(const std::filesystem::path& path) {
  return Json::parse(test::read_file(path));
}

bool is_error(const std::string& rendered) {
  return rendered.starts_with("error: ");
}

// An error's message without Python's name of its type.
std::string message_of(const std::string& error) {
  return error.substr(error.find(": ") + 2);
}

TEST(JinjaCorpus, RealTemplatesGiveTheOutputsAndErrorsOfJinja2) {
  ARION_REQUIRE_CORPUS(chat_dir() / "golden_jinja2.json");
  const Json corpus = read_json(chat_dir() / "golden_jinja2.json");
  int outputs = 0, errors = 0;
  for (const auto& [name, cases] : corpus["golden"].items()) {
    const jinja::Template whole(test::read_file(chat_dir() / "templates" / name));
    for (const auto& [case_name, expected] : cases.items()) {
      SCOPED_TRACE(name + " " + case_name);
      Json variables = corpus["base"];
      variables.update(corpus["cases"][case_name]);
      const std::string rendered = test::render(whole, variables.dump());
      if (expected.contains("out")) {
        EXPECT_EQ(rendered, expected["out"].get<std::string>());
        ++outputs;
      } else {
        EXPECT_TRUE(is_error(rendered)) << rendered;
        EXPECT_TRUE(rendered.ends_with(message_of(expected["err"]))) << rendered;
        ++errors;
      }
    }
  }
  EXPECT_EQ(outputs, 892);
  EXPECT_EQ(errors, 98);
}

TEST(JinjaCorpus, UnitCasesOfLlamaCppAreAsInJinja2) {
  ARION_REQUIRE_CORPUS(chat_dir() / "llamacpp_jinja_unit.json");
  int count = 0;
  for (const Json& item : read_json(chat_dir() / "llamacpp_jinja_unit.json")) {
    SCOPED_TRACE(item["name"]);
    const std::string rendered =
        test::render(item["template"].get<std::string>(), item["vars"].dump());
    // "same", or what Jinja2 does instead.
    const std::string jinja2 = item["jinja2"];
    if (jinja2.starts_with("<<ERR>>")) {
      EXPECT_TRUE(is_error(rendered)) << rendered;
    } else {
      EXPECT_EQ(rendered, jinja2 == "same" ? item["expected"].get<std::string>() : jinja2);
    }
    ++count;
  }
  EXPECT_EQ(count, 278);
}

// Functions that the cases pass to templates.
jinja::Value make_function(jinja::Heap& heap, const std::string& source) {
  return jinja::make_function(
      heap, "host", [source](jinja::Runtime& runtime, const jinja::Arguments& arguments) {
        const auto& items = arguments.positional;
        if (source.find("x + y") != std::string::npos) {
          return jinja::Value::integer(items.at(0).as_integer() + items.at(1).as_integer());
        }
        if (source.find("join") != std::string::npos) {
          const bool has_separator = source.find("\"_\"") != std::string::npos;
          jinja::Text joined;
          for (size_t i = 0; i < items.size(); ++i) {
            if (i > 0 && has_separator) joined.append("_");
            joined.append(items[i].text());
          }
          return jinja::make_string(runtime.heap(), std::move(joined));
        }
        return jinja::Value::integer(static_cast<int64_t>(items.size()));
      });
}

jinja::Value make_value(jinja::Heap& heap, const Json& json) {
  const std::string marker = "<<function ";
  if (json.is_string() && json.get<std::string>().starts_with(marker)) {
    return make_function(heap, json);
  }
  if (!json.is_object()) return jinja::parse_json(heap, json.dump(), jinja::Origin::input);
  jinja::DictObject* dict = nullptr;
  const jinja::Value value = jinja::make_dict(heap, dict);
  for (const auto& [key, item] : json.items()) {
    dict->set(jinja::make_string(heap, key), make_value(heap, item));
  }
  return value;
}

TEST(JinjaCorpus, UnitCasesOfHuggingfaceJsAreAsInJinja2) {
  const auto path = chat_dir() / "hfjs_jinja_unit.json";
  ARION_REQUIRE_CORPUS(path);
  // Where JavaScript shows through: True and None, quotes of lists, sums of texts and numbers.
  const Json jinja2 =
      read_json(test::source_dir() / "tests/golden/jinja/hfjs_in_jinja2.json")["cases"];
  int count = 0;
  const Json units = read_json(path);
  for (const auto& [name, item] : units.items()) {
    SCOPED_TRACE(name);
    jinja::Heap heap;
    std::string rendered;
    try {
      const jinja::Template unit(item["template"].get<std::string>());
      rendered = unit.render(make_value(heap, item["context"])).bytes();
    } catch (const Error& error) {
      rendered = std::string("error: ") + error.what();
    }
    const std::string expected = jinja2.value(name, item["expected"].get<std::string>());
    if (is_error(expected)) {
      EXPECT_TRUE(is_error(rendered)) << rendered;
    } else {
      EXPECT_EQ(rendered, expected);
    }
    ++count;
  }
  EXPECT_EQ(count, 161);
}

TEST(JinjaCorpus, WholeTemplatesOfHuggingfaceJsGiveTheirTargets) {
  const auto path = chat_dir() / "hfjs_e2e_templates.json";
  ARION_REQUIRE_CORPUS(path);
  int count = 0;
  const Json suites = read_json(path);
  for (const auto& [suite, cases] : suites.items()) {
    for (const auto& [name, item] : cases.items()) {
      if (!item.contains("data")) continue;
      // Its target prints a list of dicts as JSON, as JavaScript does.
      if (name == "MadeAgents/Hammer2.1") continue;
      SCOPED_TRACE(name);
      jinja::Heap heap;
      const auto variables = jinja::parse_json(heap, item["data"].dump(), jinja::Origin::input);
      jinja::LocalTime now;  // 2025-07-10
      now.fields.tm_year = 125;
      now.fields.tm_mon = 6;
      now.fields.tm_mday = 10;
      const jinja::Template whole(item["chat_template"].get<std::string>());
      EXPECT_EQ(whole.render(variables, {.now = now}).bytes(), item["target"].get<std::string>());
      ++count;
    }
  }
  EXPECT_GE(count, 52);
}

class TemplateCase : public testing::TestWithParam<const char*> {};

TEST_P(TemplateCase, RendersAsExpected) {
  const auto dir = test::corpus_dir() / "cases" / GetParam();
  ARION_REQUIRE_CORPUS(dir / "cases.json");
  const std::string source = test::read_file(dir / "template.jinja");
  for (const Json& item : read_json(dir / "cases.json")) {
    const std::string rendered = test::render(source, item["context"].dump());
    if (item.value("error", false)) {
      EXPECT_TRUE(is_error(rendered)) << rendered;
    } else {
      EXPECT_EQ(rendered, item["expect"].get<std::string>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, TemplateCase, testing::Values("014", "016", "018", "020"));

TEST(TemplateCase, ABrokenTemplateIsAnErrorWithItsPlace) {
  const auto path = test::corpus_dir() / "cases/014/broken.jinja";
  ARION_REQUIRE_CORPUS(path);
  EXPECT_TRUE(test::render(test::read_file(path)).starts_with("error: template line "));
}

TEST(TemplateCase, NonePrintsAsNone) {
  const auto dir = test::corpus_dir() / "cases/012";
  ARION_REQUIRE_CORPUS(dir / "engine_unit.json");
  EXPECT_EQ(test::render("{{ content }}", R"({"content": null})"), "None");
}

}  // namespace
}  // namespace arion
