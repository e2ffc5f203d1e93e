// Binary search in generated run-length tables.
#include "jinja/python_unicode.h"

#include <algorithm>
#include <span>

#include "base/utf8.h"

namespace arion::jinja {
namespace {

struct FlagRun {
  char32_t first;  // to the next run
  uint16_t flags;
};

// Code points first, first + stride, ..., last are mapped by adding delta.
struct CaseRun {
  char32_t first, last;
  uint32_t stride;
  int32_t delta;
};

// Zero: no further character.
struct CaseExpansion {
  char32_t from, first, second, third;
};

#include "jinja/generated/python_unicode.inc"

struct CaseTable {
  std::span<const CaseRun> runs;
  std::span<const CaseExpansion> expansions;
};

CaseTable table_of(CaseMap map) {
  switch (map) {
    case CaseMap::lower:
      return {kLowerRuns, kLowerExpansions};
    case CaseMap::upper:
      return {kUpperRuns, kUpperExpansions};
    case CaseMap::title:
      return {kTitleRuns, kTitleExpansions};
    case CaseMap::fold:
      break;
  }
  return {kFoldRuns, kFoldExpansions};
}

}  // namespace

uint16_t char_flags(char32_t code_point) {
  const auto after =
      std::upper_bound(std::begin(kFlagRuns), std::end(kFlagRuns), code_point,
                       [](char32_t value, const FlagRun& run) { return value < run.first; });
  return std::prev(after)->flags;
}

void append_mapped(std::string& out, char32_t code_point, CaseMap map) {
  const CaseTable table = table_of(map);
  const auto expansion = std::lower_bound(
      table.expansions.begin(), table.expansions.end(), code_point,
      [](const CaseExpansion& entry, char32_t value) { return entry.from < value; });
  if (expansion != table.expansions.end() && expansion->from == code_point && code_point != 0) {
    for (const char32_t c : {expansion->first, expansion->second, expansion->third}) {
      if (c != 0) append_utf8(out, c);
    }
    return;
  }
  const auto run =
      std::lower_bound(table.runs.begin(), table.runs.end(), code_point,
                       [](const CaseRun& entry, char32_t value) { return entry.last < value; });
  const bool is_mapped = run != table.runs.end() && run->first <= code_point &&
                         (code_point - run->first) % run->stride == 0;
  append_utf8(out, is_mapped ? code_point + static_cast<char32_t>(run->delta) : code_point);
}

}  // namespace arion::jinja
