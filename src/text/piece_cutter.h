// How a text is cut into words before the model sees it: the pre-tokenizers of tokenizer.json.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/pattern.h"
#include "text/pieces.h"

namespace arion {

// Immutable: thread-safe.
class PieceCutter {
 public:
  PieceCutter() = default;
  PieceCutter(const PieceCutter&) = delete;
  PieceCutter& operator=(const PieceCutter&) = delete;
  virtual ~PieceCutter() = default;
  // Cuts every piece further and may rewrite it. Empty pieces vanish.
  virtual void apply(Pieces& pieces) const = 0;
};
using PieceCutterPtr = std::unique_ptr<const PieceCutter>;

// What becomes of the matches of a pattern.
enum class SplitBehavior : uint8_t {
  removed,
  isolated,              // a piece each
  merged_with_previous,  // end the piece in front
  merged_with_next,      // begin the piece behind
  contiguous,            // neighbouring matches are one piece
};

struct SplitRule {
  std::shared_ptr<const Pattern> pattern;
  SplitBehavior behavior;
  bool is_inverted = false;  // what lies between the matches counts as match
};

enum class PrefixScheme : uint8_t { never, first, always };

struct MetaspaceRule {
  std::string replacement = "\xE2\x96\x81";  // written for a space; one character
  PrefixScheme prefix = PrefixScheme::always;
  bool splits = true;  // in front of every replacement
};

PieceCutterPtr make_bert_cutter();
// `adds_prefix_space`: every piece gets a space in front unless it has one. `uses_regex`: cuts as
// GPT-2 does.
struct ByteLevelRule {
  bool adds_prefix_space = true;
  bool uses_regex = true;
};
PieceCutterPtr make_byte_level_cutter(ByteLevelRule rule);
PieceCutterPtr make_digits_cutter(SplitBehavior behavior);
PieceCutterPtr make_fixed_length_cutter(size_t chars);
PieceCutterPtr make_metaspace_cutter(MetaspaceRule rule);
PieceCutterPtr make_punctuation_cutter(SplitBehavior behavior);
PieceCutterPtr make_sequence_cutter(std::vector<PieceCutterPtr> cutters);
PieceCutterPtr make_split_cutter(SplitRule rule);
PieceCutterPtr make_unicode_scripts_cutter();
// Runs of word characters and runs of other characters, without white space.
PieceCutterPtr make_whitespace_cutter();
PieceCutterPtr make_whitespace_split_cutter();

}  // namespace arion
