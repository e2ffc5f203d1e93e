// The template language: limits, places of errors, marks of input, what Python does differently
// from a guess.
#include "jinja/template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "jinja/render.h"
#include "test_data.h"

namespace arion {
namespace {

using test::render;

// The text with [brackets] around what came from input.
std::string marked(std::string_view source, std::string_view variables) {
  jinja::Heap heap;
  const auto context = jinja::parse_json(heap, variables, jinja::Origin::input);
  const jinja::Text text = jinja::Template(source).render(context);
  std::string shown(text.bytes());
  for (size_t i = text.input_ranges().size(); i-- > 0;) {
    shown.insert(text.input_ranges()[i].end, "]");
    shown.insert(text.input_ranges()[i].begin, "[");
  }
  return shown;
}

TEST(JinjaMarks, InputStaysInputThroughOperatorsFiltersAndMethods) {
  constexpr const char* kValue = R"({"x": " Ab<c> ", "l": ["p", "q"], "e": ""})";
  EXPECT_EQ(marked("<{{ x }}>", kValue), "<[ Ab<c> ]>");
  EXPECT_EQ(marked("{{ '<' + x|trim ~ '>' }}", kValue), "<[Ab<c>]>");
  EXPECT_EQ(marked("{{ x.strip().upper() + '|' + x[1:3] }}", kValue), "[AB<C>]|[Ab]");
  EXPECT_EQ(marked("{{ x|replace('b', '<|') }}", kValue), "[ A]<|[<c> ]");
  EXPECT_EQ(marked("{{ '<|x|>'|replace('x', l[0]) }}", kValue), "<|[p]|>");
  EXPECT_EQ(marked("{{ l|join('<|>') }}", kValue), "[p]<|>[q]");
  EXPECT_EQ(marked("{{ x.split('b') }}", kValue), "['[ A]', '[<c> ]']");
  EXPECT_EQ(marked("{{ '%s|%s' % (l[0], 'y') }}{{ '{}'.format(l[1]) }}", kValue), "[p]|y[q]");
  EXPECT_EQ(marked("{{ {'a': l}|tojson }}", kValue), R"({"a": ["[p]", "[q]"]})");
  EXPECT_EQ(marked("{% set y %}<{{ x|trim }}>{% endset %}{{ y }}{{ e }}", kValue), "<[Ab<c>]>");
  EXPECT_EQ(marked("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(l[0]) * 2 }}", kValue),
            "<[p]><[p]>");
  EXPECT_EQ(marked("{% for c in l[0] ~ 'z' %}{{ c }},{% endfor %}", kValue), "[p],z,");
  EXPECT_EQ(marked("{{ x|escape }}", R"({"x": "<"})"), "[&lt;]");
  EXPECT_EQ(marked("{{ (l[0] ~ ' ab.com')|urlize(10) }}", kValue),
            "[p] <a href=\"https://ab.com\" rel=\"noopener\">ab.com</a>");
  EXPECT_EQ(marked("{{ ('a ' ~ l[0])|wordwrap(1) }}{{ l|pprint }}", kValue),
            "a\n[p]['[p]', '[q]']");
  EXPECT_EQ(marked("{{ l[0]|center(3) }}{{ 'ab' ~ l[0] }}{{ (l[0] ~ 'ab')|reverse }}", kValue),
            " [p] ab[p]ba[p]");
}

TEST(JinjaErrors, NameLineAndColumn) {
  EXPECT_EQ(render("a\n{{ x.y }}"), "error: template line 2, column 5: 'x' is undefined");
  EXPECT_EQ(render("{% if %}"),
            "error: template line 1, column 7: Expected an expression, got "
            "'end of statement block'");
  EXPECT_EQ(render("{{ 1 +"), "error: template line 1, column 7: unexpected 'end of template'");
  EXPECT_EQ(render("\n\n  {% foo %}"),
            "error: template line 3, column 6: Encountered unknown tag 'foo'.");
  EXPECT_EQ(render("{{ raise_exception('no ' ~ 1) }}"), "error: template line 1, column 19: no 1");
  EXPECT_EQ(render("{% for x in y %}"),
            "error: template line 1, column 17: Unexpected end of template. The innermost block "
            "that needs to be closed is 'for'.");
}

TEST(JinjaErrors, OtherTemplatesAreMissedWhenTheyAreReached) {
  const std::string no_loader = "no loader for this environment specified";
  EXPECT_EQ(render("{% if x %}{% include 'a' %}{% endif %}ok"), "ok");
  EXPECT_EQ(render("a\n {% include 'a' ignore missing %}"),
            "error: template line 2, column 5: " + no_loader);
  EXPECT_EQ(render("{% import 'a' as b %}"), "error: template line 1, column 4: " + no_loader);
  EXPECT_EQ(render("{% from 'a' import b %}"), "error: template line 1, column 4: " + no_loader);
  EXPECT_EQ(render("{% extends 'a' %}"), "error: template line 1, column 4: " + no_loader);
}

TEST(JinjaErrors, NothingIsRandom) {
  EXPECT_EQ(render("{{ [1]|random }}"),
            "error: template line 1, column 8: the filter 'random' is not supported: a prompt is "
            "to be the same every time");
  EXPECT_EQ(render("{{ lipsum() }}"),
            "error: template line 1, column 10: the function 'lipsum' is not supported: a prompt "
            "is to be the same every time");
}

TEST(JinjaErrors, NothingIsEscapedOnItsOwn) {
  EXPECT_EQ(render("{% autoescape true %}{{ '<' }}{% endautoescape %}"),
            "error: template line 1, column 4: the tag 'autoescape' is not supported: a prompt is "
            "no HTML");
  EXPECT_EQ(render("{{ '<' }}{{ '<'|escape }}"), "<&lt;");
}

// Outputs of Jinja2 3.1.6 with its loop controls.
TEST(JinjaLoops, ElseRunsUnlessAnIterationReachesItsEnd) {
  EXPECT_EQ(render("{% for x in [1] %}{% continue %}{% else %}E{% endfor %}"), "E");
  EXPECT_EQ(render("{% for x in [1] %}{% break %}{% else %}E{% endfor %}"), "E");
  EXPECT_EQ(render("{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% else %}E"
                   "{% endfor %}"),
            "1");
  EXPECT_EQ(render("{% for x in [1, 2] %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}E"
                   "{% endfor %}"),
            "2");
}

// By limits that are reached sooner than those of a request.
bool is_refused(std::string_view source, std::string_view variables = "{}") {
  const jinja::Limits limits = {
      .steps = 1'000'000, .memory_bytes = size_t{32} << 20, .output_bytes = size_t{8} << 20};
  return render(source, variables, limits).starts_with("error: template line ");
}

TEST(JinjaLimits, HostileTemplatesAreRefused) {
  EXPECT_TRUE(is_refused("{{ x[,1] }}"));
  const std::string deep(10'000, '(');
  EXPECT_TRUE(is_refused("{{ " + deep));
  std::string chain = "{{ 1";
  for (int i = 0; i < 10'000; ++i) chain += " + 1";
  EXPECT_TRUE(is_refused(chain + " }}"));
  std::string blocks;
  for (int i = 0; i < 10'000; ++i) blocks += "{% if 1 %}";
  EXPECT_TRUE(is_refused(blocks));
  EXPECT_TRUE(is_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"));
  EXPECT_TRUE(is_refused("{{ 'x' * 10**12 }}"));
  EXPECT_TRUE(is_refused("{{ [0] * 10**12 }}"));
  EXPECT_TRUE(is_refused("{{ '%1000000000d' % 1 }}"));
  EXPECT_TRUE(is_refused("{{ '{:1000000000}'.format(1) }}"));
  EXPECT_TRUE(is_refused("{{ 9 ** (9 ** 9) }}"));
  EXPECT_TRUE(is_refused("{{ range(100001) }}"));
  EXPECT_TRUE(
      is_refused("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}"
                 "{% endfor %}"));
  EXPECT_TRUE(
      is_refused("{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}"
                 "{% set ns.s = ns.s ~ ns.s %}{% endfor %}"));
  EXPECT_TRUE(
      is_refused("{% set ns = namespace(l=[]) %}{% for i in range(60) %}"
                 "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}"));
  EXPECT_TRUE(
      is_refused("{% set ns = namespace(l=[]) %}{% for i in range(10000) %}"
                 "{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l|tojson }}"));
  EXPECT_TRUE(is_refused("{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}"));
  EXPECT_TRUE(is_refused("{% block a %}{{ self.a() }}{% endblock %}"));
}

TEST(JinjaLimits, CountWorkOnLongStrings) {
  const std::string strings =
      "{% set s = 'x' * 1000000 %}{% set t = 'x' * 1000000 %}{% set h = 'x' * 500000 ~ 'y' %}"
      "{% set d = {t: 1} %}{% for i in range(5000) %}{% if ";
  for (const char* work : {"s == t",
                           "s < t",
                           "s in d",
                           "s in [t]",
                           "d[s]",
                           "d.get(s)",
                           "{s: 1}",
                           "dict([[s, 1]])",
                           "(s, 1) in d",
                           "h in s",
                           "s.find(h)",
                           "s.rfind('y')",
                           "s.count(h)",
                           "s.replace(h, '')",
                           "s.split(h)",
                           "s.startswith(t)",
                           "s.endswith(('a', t))",
                           "s.islower()",
                           "s.isidentifier()",
                           "s.strip('ab')",
                           "s.removeprefix(t)",
                           "s|int",
                           "s|float",
                           "s is filter",
                           "s is test",
                           "[s, t]|unique|list"}) {
    EXPECT_TRUE(is_refused(strings + work + " %}{% endif %}{% endfor %}")) << work;
  }
  EXPECT_TRUE(is_refused("{% set s = 'x' * 1000000 %}{{ s.rfind('y' ~ 'x' * 500000) }}"));
  EXPECT_TRUE(is_refused("{% for i in range(100) %}{{ range(100000)|sum }}{% endfor %}"));
}

TEST(JinjaLimits, BoundFiltersThatLayOut) {
  EXPECT_TRUE(is_refused("{{ ('x' * 1000000)|wordwrap(1, wrapstring='y' * 1000000) }}"));
  EXPECT_TRUE(is_refused("{{ ('x' * 10000000)|wordwrap }}"));
  EXPECT_TRUE(is_refused("{{ {'k' * 1000000: range(10000)|list}|pprint }}"));
  EXPECT_TRUE(
      is_refused("{{ ('<' * 100000 ~ 'x' ~ '>' * 100000 ~ ' ')|urlize(rel='y' * 30000000) }}"));
  EXPECT_TRUE(is_refused("{{ ('ab.com ' * 100000)|urlize(rel='x' * 100000) }}"));
  EXPECT_TRUE(
      is_refused("{% set ns = namespace(l=[]) %}{% for i in range(60) %}"
                 "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|pprint }}"));
  EXPECT_TRUE(
      is_refused("{% set ns = namespace(l=[]) %}{% for i in range(10000) %}"
                 "{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l|pprint }}"));
  // Long, but done in time: brackets, hyphens and words without an end.
  EXPECT_FALSE(is_refused("{{ ('(' * 100000 ~ 'x' ~ ')' * 100000)|urlize }}"));
  EXPECT_FALSE(is_refused("{{ ('a' ~ '-' * 100000)|wordwrap(50000) }}"));
  EXPECT_FALSE(is_refused("{{ ('a' * 100000)|pprint }}"));
}

TEST(JinjaLimits, DeepJsonIsRefused) {
  EXPECT_TRUE(render("", std::string(100'000, '[')).starts_with("error: JSON is nested"));
}

TEST(JinjaSandbox, NothingIsChangedOrLookedInto) {
  EXPECT_EQ(render("{{ l.append(1) }}", R"({"l": []})"),
            "error: template line 1, column 12: access to attribute 'append' of 'list' object is "
            "unsafe.");
  EXPECT_TRUE(is_refused("{{ d.update({}) }}", R"({"d": {}})"));
  EXPECT_EQ(render("{{ ''.__class__ }}"), "");
  EXPECT_TRUE(is_refused("{{ ''.__class__.__mro__ }}"));
  EXPECT_TRUE(is_refused("{% set ns = namespace(_a=1) %}"));
}

TEST(JinjaTime, IsTheOneGiven) {
  EXPECT_EQ(render("{{ strftime_now('%d %b %Y %H:%M:%S.%f|%A|%-d|%j|%%|%Z') }}"),
            "29 Nov 2026 12:00:00.000000|Sunday|29|333|%|");
}

TEST(JinjaText, InvalidUtf8IsReplaced) {
  EXPECT_EQ(render("a\xff"
                   "b"),
            "a\xEF\xBF\xBD"
            "b");
}

// Random templates and expressions that once differed, or are worth keeping; made with
// make_jinja.py.
class JinjaGolden : public testing::TestWithParam<const char*> {};

TEST_P(JinjaGolden, GivesWhatJinja2Gives) {
  const auto golden = nlohmann::ordered_json::parse(
      test::read_file(test::source_dir() / "tests/golden/jinja" / GetParam()));
  const std::string variables = golden["variables"];
  ASSERT_GE(golden["cases"].size(), 100u);
  for (const auto& item : golden["cases"]) {
    const std::string source = item["template"], expected = item["expected"];
    const std::string rendered = render(source, variables);
    if (expected.starts_with("error: ")) {
      EXPECT_TRUE(rendered.starts_with("error: ")) << source << "\n" << rendered;
    } else {
      EXPECT_EQ(rendered, expected) << source;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, JinjaGolden,
                         testing::Values("differential.json", "layout_and_blocks.json"));

}  // namespace
}  // namespace arion
