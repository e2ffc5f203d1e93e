// The loop of sentencepiece's Normalizer::Normalize.
#include "text/spm_normalizer.h"

#include <vector>

#include "text/growth.h"
#include "text/token_spelling.h"
#include "text/unicode.h"

namespace arion {
namespace {

PrefixTrie make_user_defined(const Vocabulary& vocabulary) {
  std::vector<PrefixTrie::Key> keys;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const bool is_wanted = vocabulary.type(id) == TokenType::user_defined;
    if (is_wanted && !vocabulary.tokens[id].empty()) {
      keys.push_back({vocabulary.tokens[id], static_cast<int32_t>(id)});
    }
  }
  return PrefixTrie(std::move(keys));
}

}  // namespace

SpmNormalizer::SpmNormalizer(const Vocabulary& vocabulary)
    : user_defined_(make_user_defined(vocabulary)),
      adds_prefix_(vocabulary.add_space_prefix.value_or(true)),
      removes_spaces_(vocabulary.remove_extra_whitespaces.value_or(false)) {
  if (!vocabulary.precompiled_charsmap.empty()) charsmap_.emplace(vocabulary.precompiled_charsmap);
}

SpmNormalizer::Step SpmNormalizer::first_step(std::string_view text) const {
  if (const auto match = user_defined_.longest_prefix(text); match.length > 0) {
    return {text.substr(0, match.length), match.length};
  }
  if (charsmap_) {
    if (const auto match = charsmap_->longest(text)) return {match->replacement, match->length};
  }
  const size_t length = decode_utf8(text).length;
  return {text.substr(0, length), length};
}

std::string SpmNormalizer::apply(std::string_view text) const {
  const size_t size = text.size();
  while (removes_spaces_ && !text.empty()) {
    const Step step = first_step(text);
    if (step.replacement != " ") break;
    text.remove_prefix(step.length);
  }
  if (text.empty()) return {};
  std::string out;
  out.reserve(size + 1);
  if (adds_prefix_) out += ' ';
  bool skips_spaces = removes_spaces_;
  while (!text.empty()) {
    Step step = first_step(text);
    text.remove_prefix(step.length);
    while (skips_spaces && step.replacement.starts_with(' ')) step.replacement.remove_prefix(1);
    out += step.replacement;
    check_growth(size, out.size());
    if (!step.replacement.empty()) skips_spaces = step.replacement.ends_with(' ');
    skips_spaces &= removes_spaces_;
  }
  out = spaces_from_underscores(out);
  while (removes_spaces_ && out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace arion
