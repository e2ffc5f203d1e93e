// Pre-tokenizers of tokenizer.json.
#include "base/error.h"
#include "text/pipeline/json_parts.h"
#include "text/scanners.h"

namespace arion {
namespace {

SplitBehavior read_behavior(const JsonObject& part, SplitBehavior if_missing) {
  const auto name = part.find_string("behavior");
  if (!name) return if_missing;
  if (*name == "Removed") return SplitBehavior::removed;
  if (*name == "Isolated") return SplitBehavior::isolated;
  if (*name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (*name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (*name == "Contiguous") return SplitBehavior::contiguous;
  fail(ErrorCode::bad_input,
       "{}.behavior is \"{}\", expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
       "Contiguous",
       part.where(), name->substr(0, 80));
}

PieceCutterPtr read_split(const JsonObject& part) {
  return make_split_cutter({.pattern = read_pattern(part),
                            .behavior = read_behavior(part, SplitBehavior::removed),
                            .is_inverted = part.boolean("invert", false)});
}

ByteLevelRule read_byte_level_rule(const JsonObject& part) {
  return {.adds_prefix_space = part.boolean("add_prefix_space", true),
          .uses_regex = part.boolean("use_regex", true)};
}

PrefixScheme read_prefix_scheme(const JsonObject& part) {
  const auto name = part.find_string("prepend_scheme");
  if (!name) {  // files of old versions
    return part.boolean("add_prefix_space", true) ? PrefixScheme::always : PrefixScheme::never;
  }
  if (*name == "always") return PrefixScheme::always;
  if (*name == "first") return PrefixScheme::first;
  if (*name == "never") return PrefixScheme::never;
  fail(ErrorCode::bad_input, "{}.prepend_scheme is \"{}\", expected always, first or never",
       part.where(), name->substr(0, 80));
}

PieceCutterPtr read_metaspace_cutter(const JsonObject& part) {
  return make_metaspace_cutter({.replacement = read_char(part, "replacement"),
                                .prefix = read_prefix_scheme(part),
                                .splits = part.boolean("split", true)});
}

PieceCutterPtr read_digits(const JsonObject& part) {
  return make_digits_cutter(part.boolean("individual_digits", false) ? SplitBehavior::isolated
                                                                     : SplitBehavior::contiguous);
}

PieceCutterPtr read_char_delimiter(const JsonObject& part) {
  return make_split_cutter(
      {make_literal_pattern(read_char(part, "delimiter")), SplitBehavior::removed});
}

// Adds the regex that cuts as `part` does if matches and gaps become pieces; else returns false.
bool add_isolating_regex(const JsonObject& part, std::vector<std::string>& regexes) {
  const std::string_view type = part.string("type");
  if (type == "Digits" && part.boolean("individual_digits", false)) {
    regexes.emplace_back(pattern::kNumber);
    return true;
  }
  if (type != "Split" || part.boolean("invert", false)) return false;
  if (read_behavior(part, SplitBehavior::removed) != SplitBehavior::isolated) return false;
  if (!part.require("pattern").is_object()) return false;
  const auto regex = part.object("pattern").find_string("Regex");
  if (regex) regexes.emplace_back(*regex);
  return regex.has_value();
}

std::optional<std::vector<std::string>> byte_level_regexes_of(const JsonObject& part) {
  std::vector<std::string> regexes;
  bool is_spelled = false;  // ByteLevel was there
  const auto add = [&](const JsonObject& item) {
    if (is_spelled) return false;
    if (item.string("type") != "ByteLevel") return add_isolating_regex(item, regexes);
    const ByteLevelRule rule = read_byte_level_rule(item);
    if (rule.uses_regex) regexes.emplace_back(pattern::kGpt2);
    is_spelled = true;
    return !rule.adds_prefix_space;
  };
  if (part.string("type") == "Sequence") {
    for (const JsonElement element : part.array("pretokenizers")) {
      if (!add(JsonObject(element, part.where()))) return std::nullopt;
    }
  } else if (!add(part)) {
    return std::nullopt;
  }
  return is_spelled ? std::optional(regexes) : std::nullopt;
}

PieceCutterPtr read_cutter(const JsonObject& part, PartBudget& budget) {
  budget.take(part);
  const std::string_view type = part.string("type");
  if (type == "Sequence") {
    std::vector<PieceCutterPtr> cutters;
    for (const JsonElement element : part.array("pretokenizers")) {
      cutters.push_back(read_cutter(JsonObject(element, part.where() + ".pretokenizers"), budget));
    }
    return make_sequence_cutter(std::move(cutters));
  }
  if (type == "BertPreTokenizer") return make_bert_cutter();
  if (type == "ByteLevel") return make_byte_level_cutter(read_byte_level_rule(part));
  if (type == "CharDelimiterSplit") return read_char_delimiter(part);
  if (type == "Digits") return read_digits(part);
  if (type == "FixedLength") {
    const uint64_t length = part.find_integer("length", UINT32_MAX).value_or(5);
    if (length == 0)
      fail(ErrorCode::bad_input, "{}.length is 0, expected at least 1", part.where());
    return make_fixed_length_cutter(length);
  }
  if (type == "Metaspace") return read_metaspace_cutter(part);
  if (type == "Punctuation") {
    return make_punctuation_cutter(read_behavior(part, SplitBehavior::isolated));
  }
  if (type == "Split") return read_split(part);
  if (type == "UnicodeScripts") return make_unicode_scripts_cutter();
  if (type == "Whitespace") return make_whitespace_cutter();
  if (type == "WhitespaceSplit") return make_whitespace_split_cutter();
  fail_part(part, type,
            "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, "
            "Punctuation, Sequence, Split, UnicodeScripts, Whitespace, WhitespaceSplit");
}

}  // namespace

PreTokenizerPart read_pre_tokenizer(const JsonObject& part, PartBudget& budget) {
  PreTokenizerPart result = {.cutter = read_cutter(part, budget)};
  result.byte_level_regexes = byte_level_regexes_of(part);
  return result;
}

}  // namespace arion
