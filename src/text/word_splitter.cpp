// The steps in order; ill-formed text gets a well-formed copy and its offsets back.
#include "text/word_splitter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/unicode.h"

namespace arion {
namespace {

// A copy of the text with U+FFFD for each ill-formed subpart, and where each of those ends.
struct Repaired {
  struct Change {
    uint32_t copy_end, original_end;
  };
  std::string copy;
  std::vector<Change> changes;  // ascending

  // Offset in the original; ends of words never lie inside a U+FFFD.
  uint32_t original(uint32_t offset) const {
    const auto behind =
        std::upper_bound(changes.begin(), changes.end(), offset,
                         [](uint32_t value, const Change& c) { return value < c.copy_end; });
    if (behind == changes.begin()) return offset;
    const Change& last = *std::prev(behind);
    return last.original_end + (offset - last.copy_end);
  }
};

// Nothing if the text is well-formed.
std::optional<Repaired> repair(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!c.is_valid) break;
    at += c.length;
  }
  if (at == text.size()) return std::nullopt;
  Repaired repaired{std::string(text.substr(0, at)), {}};
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    at += c.length;
    if (c.is_valid) {
      repaired.copy.append(text.substr(at - c.length, c.length));
    } else {
      append_utf8(repaired.copy, kReplacement);
      repaired.changes.push_back(
          {static_cast<uint32_t>(repaired.copy.size()), static_cast<uint32_t>(at)});
    }
  }
  return repaired;
}

void find_all(const Regex& regex, RegexMatcher& matcher, std::string_view text, Word piece,
              std::vector<Word>& words) {
  const std::string_view part = text.substr(piece.begin, piece.end - piece.begin);
  size_t done = 0, from = 0;
  const auto add = [&](size_t begin, size_t end) {
    if (end > begin) {
      words.push_back(
          {piece.begin + static_cast<uint32_t>(begin), piece.begin + static_cast<uint32_t>(end)});
    }
  };
  while (from <= part.size()) {
    const auto match = matcher.find(regex, part, from);
    if (!match) break;
    add(done, match->begin);
    add(match->begin, match->end);
    done = from = match->end;
    if (match->begin < match->end) continue;
    if (from == part.size()) break;
    from += decode_utf8(part.substr(from)).length;
  }
  add(done, part.size());
}

}  // namespace

WordSplitter::WordSplitter(std::span<const std::string_view> patterns) : needs_well_formed_(false) {
  for (const std::string_view pattern : patterns) {
    if (const Scan scan = find_scanner(pattern)) {
      steps_.emplace_back(scan);
    } else {
      steps_.emplace_back(Regex(pattern));
      needs_well_formed_ = true;
    }
  }
}

void WordSplitter::split(std::string_view text, std::vector<Word>& words) const {
  if (needs_well_formed_) {
    if (const auto repaired = repair(text)) {
      const size_t first = words.size();
      split_well_formed(repaired->copy, words);
      for (size_t i = first; i < words.size(); ++i) {
        words[i] = {repaired->original(words[i].begin), repaired->original(words[i].end)};
      }
      return;
    }
  }
  split_well_formed(text, words);
}

void WordSplitter::split_well_formed(std::string_view text, std::vector<Word>& words) const {
  const Word whole = {0, static_cast<uint32_t>(text.size())};
  std::vector<Word> pieces, next;
  std::span<const Word> in(&whole, 1);
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    next.clear();
    run(steps_[i], text, in, next);
    pieces.swap(next);
    in = pieces;
  }
  if (steps_.empty()) {
    words.push_back(whole);
  } else {
    run(steps_.back(), text, in, words);
  }
}

void WordSplitter::run(const Step& step, std::string_view text, std::span<const Word> pieces,
                       std::vector<Word>& words) const {
  if (const Scan* scan = std::get_if<Scan>(&step)) {
    for (const Word piece : pieces) (*scan)(text, piece, words);
    return;
  }
  RegexMatcher matcher;
  for (const Word piece : pieces) find_all(std::get<Regex>(step), matcher, text, piece, words);
}

}  // namespace arion
