// Renders templates for tests.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "jinja/json.h"
#include "jinja/template.h"

namespace arion::test {

// 2026-11-29 12:00, a Sunday: the moment of the corpus.
inline jinja::LocalTime corpus_time() {
  jinja::LocalTime now;
  now.fields.tm_year = 126;
  now.fields.tm_mon = 10;
  now.fields.tm_mday = 29;
  now.fields.tm_hour = 12;
  now.fields.tm_wday = 0;
  now.fields.tm_yday = 332;
  return now;
}

// The text, or "error: ..." with the message.
inline std::string render(const jinja::Template& chat_template, std::string_view variables,
                          const jinja::Limits& limits = {}) {
  try {
    jinja::Heap heap;
    const jinja::Value context = jinja::parse_json(heap, variables, jinja::Origin::input);
    return std::string(
        chat_template.render(context, {.limits = limits, .now = corpus_time()}).bytes());
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

inline std::string render(std::string_view source, std::string_view variables = "{}",
                          const jinja::Limits& limits = {}) {
  try {
    return render(jinja::Template(source), variables, limits);
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace arion::test
