// Splitting at patterns, and the cutters that rewrite their pieces.
#include "text/piece_cutter.h"

#include <algorithm>
#include <utility>

#include "text/character_class.h"
#include "text/scanners.h"
#include "text/script.h"
#include "text/token_spelling.h"
#include "text/unicode.h"

namespace arion {
namespace {

// A match or what lies between two.
struct Span {
  size_t begin, end;
  bool is_match;
};

void find_spans(std::string_view text, const SplitRule& rule, std::vector<TextRange>& matches,
                std::vector<Span>& spans) {
  rule.pattern->find(text, matches);
  spans.clear();
  size_t at = 0;
  for (const TextRange& match : matches) {
    if (at < match.begin) spans.push_back({at, match.begin, rule.is_inverted});
    spans.push_back({match.begin, match.end, !rule.is_inverted});
    at = match.end;
  }
  if (at < text.size()) spans.push_back({at, text.size(), rule.is_inverted});
}

// Joins neighbours: joins(left, right) says whether the right one belongs to the left one.
template <class Joins>
void join_spans(std::vector<Span>& spans, const Joins& joins) {
  size_t kept = 0;
  bool was_match = false;  // of the span that came last, joined or not
  for (const Span& span : spans) {
    const bool is_joined = kept > 0 && joins(was_match, span.is_match);
    was_match = span.is_match;
    if (is_joined) {
      spans[kept - 1].end = span.end;
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
}

void apply_behavior(std::vector<Span>& spans, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::isolated:
      return;
    case SplitBehavior::removed:
      std::erase_if(spans, [](const Span& span) { return span.is_match; });
      return;
    case SplitBehavior::contiguous:
      return join_spans(spans, [](bool left, bool right) { return left == right; });
    case SplitBehavior::merged_with_previous:
      return join_spans(spans, [](bool left, bool right) { return right && !left; });
    case SplitBehavior::merged_with_next:
      return join_spans(spans, [](bool left, bool right) { return left && !right; });
  }
}

class SplitCutter final : public PieceCutter {
 public:
  explicit SplitCutter(SplitRule rule) : rule_(std::move(rule)) {}
  void apply(Pieces& pieces) const override {
    std::vector<Pieces::Range> ranges;
    std::vector<TextRange> matches;
    std::vector<Span> spans;
    for (size_t i = 0; i < pieces.size(); ++i) {
      find_spans(pieces[i], rule_, matches, spans);
      apply_behavior(spans, rule_.behavior);
      const auto [begin, end, starts_text] = pieces.ranges[i];
      for (const Span& span : spans) {
        if (span.begin == span.end) continue;
        ranges.push_back({begin + span.begin, begin + span.end, starts_text && span.begin == 0});
      }
    }
    pieces.ranges = std::move(ranges);
  }

 private:
  SplitRule rule_;
};

// Gives every piece a new text: rewrite(piece, starts_text, out) appends it.
template <class Rewrite>
void rewrite_pieces(Pieces& pieces, const Rewrite& rewrite) {
  std::string text;
  text.reserve(pieces.text.size() + pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t begin = text.size();
    rewrite(pieces[i], pieces.ranges[i].starts_text, text);
    pieces.ranges[i].begin = begin;
    pieces.ranges[i].end = text.size();
  }
  pieces.text = std::move(text);
}

class ByteLevelCutter final : public PieceCutter {
 public:
  explicit ByteLevelCutter(ByteLevelRule rule)
      : rule_(rule), split_({make_regex_pattern(pattern::kGpt2), SplitBehavior::isolated}) {}
  void apply(Pieces& pieces) const override {
    if (rule_.adds_prefix_space) {
      rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
        if (!piece.starts_with(' ')) out += ' ';
        out += piece;
      });
    }
    if (rule_.uses_regex) split_.apply(pieces);
    rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
      out += encode_byte_alphabet(piece);
    });
  }

 private:
  ByteLevelRule rule_;
  SplitCutter split_;
};

class MetaspaceCutter final : public PieceCutter {
 public:
  explicit MetaspaceCutter(MetaspaceRule rule)
      : rule_(std::move(rule)),
        split_({make_literal_pattern(rule_.replacement), SplitBehavior::merged_with_next}) {}
  void apply(Pieces& pieces) const override {
    rewrite_pieces(pieces, [this](std::string_view piece, bool starts_text, std::string& out) {
      const bool has_prefix = piece.starts_with(' ') || piece.starts_with(rule_.replacement);
      const bool wants_prefix = rule_.prefix == PrefixScheme::always ||
                                (rule_.prefix == PrefixScheme::first && starts_text);
      if (wants_prefix && !has_prefix) out += rule_.replacement;
      for (const char c : piece) c == ' ' ? out += rule_.replacement : out += c;
    });
    if (rule_.splits) split_.apply(pieces);
  }

 private:
  MetaspaceRule rule_;
  SplitCutter split_;
};

class FixedLengthCutter final : public PieceCutter {
 public:
  explicit FixedLengthCutter(size_t chars) : chars_(chars) {}
  void apply(Pieces& pieces) const override {
    std::vector<Pieces::Range> ranges;
    for (size_t i = 0; i < pieces.size(); ++i) {
      auto [begin, end, starts_text] = pieces.ranges[i];
      size_t count = 0;
      for (size_t at = begin; at < end;) {
        at += decode_utf8(std::string_view(pieces.text).substr(at, end - at)).length;
        if (++count < chars_ && at < end) continue;
        ranges.push_back({begin, at, std::exchange(starts_text, false)});
        begin = at;
        count = 0;
      }
    }
    pieces.ranges = std::move(ranges);
  }

 private:
  size_t chars_;
};

// Cuts where the script changes. Characters without a script, such as spaces, stay with those in
// front; at the beginning they are dropped, as the package does.
class UnicodeScriptsCutter final : public PieceCutter {
 public:
  void apply(Pieces& pieces) const override {
    std::vector<Pieces::Range> ranges;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [first, end, starts_text] = pieces.ranges[i];
      size_t begin = end;
      int last = kAnyScript;
      for (size_t at = first; at < end;) {
        const Utf8Char c = decode_utf8(std::string_view(pieces.text).substr(at, end - at));
        const int script = script_group(c.code_point);
        if (script != kAnyScript && script != last) {
          if (begin < at) ranges.push_back({begin, at, starts_text && begin == first});
          begin = at;
          last = script;
        }
        at += c.length;
      }
      if (begin < end) ranges.push_back({begin, end, starts_text && begin == first});
    }
    pieces.ranges = std::move(ranges);
  }
};

class SequenceCutter final : public PieceCutter {
 public:
  explicit SequenceCutter(std::vector<PieceCutterPtr> cutters) : cutters_(std::move(cutters)) {}
  void apply(Pieces& pieces) const override {
    for (const PieceCutterPtr& cutter : cutters_) cutter->apply(pieces);
  }

 private:
  std::vector<PieceCutterPtr> cutters_;
};

bool is_punctuation(char32_t c) {
  return character_class(c) & kPunctuationClass;
}
bool is_numeric(char32_t c) {
  return character_class(c) & kNumericClass;
}
bool is_neither(char32_t c) {
  return !is_word(c) && !is_space(c);
}

PieceCutterPtr make_char_cutter(CharPredicate predicate, SplitBehavior behavior) {
  return make_split_cutter({make_char_pattern(predicate), behavior});
}

PieceCutterPtr make_pair_cutter(PieceCutterPtr first, PieceCutterPtr second) {
  std::vector<PieceCutterPtr> cutters;
  cutters.push_back(std::move(first));
  cutters.push_back(std::move(second));
  return make_sequence_cutter(std::move(cutters));
}

}  // namespace

PieceCutterPtr make_bert_cutter() {
  return make_pair_cutter(make_whitespace_split_cutter(),
                          make_punctuation_cutter(SplitBehavior::isolated));
}

PieceCutterPtr make_byte_level_cutter(ByteLevelRule rule) {
  return std::make_unique<ByteLevelCutter>(rule);
}

PieceCutterPtr make_digits_cutter(SplitBehavior behavior) {
  return make_char_cutter(is_numeric, behavior);
}

PieceCutterPtr make_fixed_length_cutter(size_t chars) {
  return std::make_unique<FixedLengthCutter>(chars);
}

PieceCutterPtr make_metaspace_cutter(MetaspaceRule rule) {
  return std::make_unique<MetaspaceCutter>(std::move(rule));
}

PieceCutterPtr make_punctuation_cutter(SplitBehavior behavior) {
  return make_char_cutter(is_punctuation, behavior);
}

PieceCutterPtr make_sequence_cutter(std::vector<PieceCutterPtr> cutters) {
  return std::make_unique<SequenceCutter>(std::move(cutters));
}

PieceCutterPtr make_split_cutter(SplitRule rule) {
  return std::make_unique<SplitCutter>(std::move(rule));
}

PieceCutterPtr make_unicode_scripts_cutter() {
  return std::make_unique<UnicodeScriptsCutter>();
}

PieceCutterPtr make_whitespace_cutter() {
  return make_pair_cutter(make_whitespace_split_cutter(),
                          make_char_cutter(is_neither, SplitBehavior::contiguous));
}

PieceCutterPtr make_whitespace_split_cutter() {
  return make_char_cutter(is_space, SplitBehavior::removed);
}

}  // namespace arion
