// The boundary rules GB3 to GB13 of UAX #29. Rule GB9c (Indic conjuncts) is not among them: it
// joins clusters that are longer than what charsmaps look at.
#include "text/grapheme.h"

#include <cstdint>

#include "text/character_class.h"
#include "text/unicode.h"

namespace arion {
namespace {

// Order of GRAPHEME in tools/make_normalization_tables.py.
enum class GraphemeClass : uint8_t {
  other,
  cr,
  lf,
  control,
  extend,
  zwj,
  regional_indicator,
  prepend,
  spacing_mark,
  l,
  v,
  t,
  lv,
  lvt,
};
constexpr int kGraphemeShift = 8;

struct Cluster {
  GraphemeClass last;
  int indicators = 0;            // regional indicators so far
  bool ends_in_picture = false;  // pictograph, then extending characters
  bool joins_picture = false;    // the same with a joiner behind
};

bool is_control(GraphemeClass c) {
  using enum GraphemeClass;
  return c == cr || c == lf || c == control;
}

bool continues(const Cluster& cluster, GraphemeClass next, bool is_picture) {
  using enum GraphemeClass;
  const GraphemeClass last = cluster.last;
  if (last == cr && next == lf) return true;
  if (is_control(last) || is_control(next)) return false;
  if (last == l && (next == l || next == v || next == lv || next == lvt)) return true;
  if ((last == lv || last == v) && (next == v || next == t)) return true;
  if ((last == lvt || last == t) && next == t) return true;
  if (next == extend || next == zwj || next == spacing_mark || last == prepend) return true;
  if (cluster.joins_picture && is_picture) return true;
  return next == regional_indicator && last == regional_indicator && cluster.indicators % 2 == 1;
}

}  // namespace

size_t first_grapheme(std::string_view text) {
  Cluster cluster;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    const uint16_t bits = c.is_valid ? character_class(c.code_point) : 0;
    const auto kind = static_cast<GraphemeClass>(bits >> kGraphemeShift);
    const bool is_picture = bits & kPictographClass;
    if (at > 0 && !continues(cluster, kind, is_picture)) break;
    cluster.joins_picture = cluster.ends_in_picture && kind == GraphemeClass::zwj;
    cluster.ends_in_picture =
        is_picture || (cluster.ends_in_picture && kind == GraphemeClass::extend);
    cluster.indicators += kind == GraphemeClass::regional_indicator;
    cluster.last = kind;
    at += c.length;
  }
  return at;
}

}  // namespace arion
