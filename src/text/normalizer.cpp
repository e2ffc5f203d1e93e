// Most normalizers look at one character at a time and keep, drop or replace it.
#include "text/normalizer.h"

#include <utility>

#include "text/character_class.h"
#include "text/growth.h"
#include "text/token_spelling.h"
#include "text/unicode.h"

namespace arion {
namespace {

// Rewrites a text character by character: rewrite(code point, bytes, out) appends what becomes of
// it. Returns whether something became of the first one.
template <class Rewrite>
bool rewrite_chars(std::string& text, const Rewrite& rewrite) {
  std::string out;
  out.reserve(text.size());
  bool keeps_start = true;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const Utf8Char c = decode_utf8(rest);
    rewrite(c.code_point, rest.substr(0, c.length), out);
    if (at == 0) keeps_start = !out.empty();
    at += c.length;
  }
  text = std::move(out);
  return keeps_start;
}

template <class Function>
class FunctionNormalizer final : public Normalizer {
 public:
  explicit FunctionNormalizer(Function function) : function_(std::move(function)) {}
  bool apply(std::string& text) const override { return function_(text); }

 private:
  Function function_;
};

template <class Function>
NormalizerPtr make_normalizer(Function function) {
  return std::make_unique<FunctionNormalizer<Function>>(std::move(function));
}

// The blocks that BERT calls Chinese; the sixth begins where its source does, not at U+2B820.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool drop_class(std::string& text, CharacterClass dropped) {
  return rewrite_chars(text, [dropped](char32_t c, std::string_view bytes, std::string& out) {
    if ((character_class(c) & dropped) == 0) out += bytes;
  });
}

bool clean_text(std::string& text) {
  return rewrite_chars(text, [](char32_t c, std::string_view bytes, std::string& out) {
    if (character_class(c) & kControlClass) return;
    is_space(c) ? void(out += ' ') : void(out += bytes);
  });
}

bool isolate_chinese(std::string& text) {
  return rewrite_chars(text, [](char32_t c, std::string_view bytes, std::string& out) {
    if (!is_chinese(c)) {
      out += bytes;
      return;
    }
    out += ' ';
    out += bytes;
    out += ' ';
  });
}

bool apply_bert(const BertNormalization& options, std::string& text) {
  bool keeps_start = true;
  if (options.cleans_text) keeps_start &= clean_text(text);
  if (options.isolates_chinese) keeps_start &= isolate_chinese(text);
  if (options.strips_accents.value_or(options.lowers_case)) {
    text = to_normal_form(text, NormalForm::nfd);
    keeps_start &= drop_class(text, kNonspacingClass);
  }
  if (options.lowers_case) text = to_lower_case(text);
  return keeps_start;
}

// The rules of SentencePiece's "nmt" normalization.
bool apply_nmt(std::string& text) {
  return rewrite_chars(text, [](char32_t c, std::string_view bytes, std::string& out) {
    const bool is_dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                            c == 0x7F || c == 0x8F || c == 0x9F;
    const bool is_blank = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                          (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                          c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (is_dropped) return;
    is_blank ? void(out += ' ') : void(out += bytes);
  });
}

bool replace_matches(const Pattern& pattern, const std::string& content, std::string& text) {
  std::vector<TextRange> matches;
  pattern.find(text, matches);
  if (matches.empty()) return true;
  check_growth(text.size(), text.size() + matches.size() * content.size());
  // The content stands where the last character of the match stood.
  const TextRange first = matches[0];
  const bool drops_start = first.begin == 0 && first.end > 0 &&
                           (content.empty() || first.end > decode_utf8(text).length);
  std::string out;
  size_t at = 0;
  for (const TextRange& match : matches) {
    out.append(text, at, match.begin - at);
    out += content;
    at = match.end;
  }
  out.append(text, at);
  text = std::move(out);
  return !drops_start;
}

bool strip_spaces(std::string& text, bool left, bool right) {
  size_t begin = 0, end = 0;  // of what stays
  bool is_leading = left;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(std::string_view(text).substr(at));
    at += c.length;
    if (!is_space(c.code_point)) {
      is_leading = false;
      end = at;
    } else if (is_leading) {
      begin = at;
    }
  }
  if (!right) end = text.size();
  text = begin < end ? text.substr(begin, end - begin) : std::string();
  return begin == 0;
}

class SequenceNormalizer final : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<NormalizerPtr> normalizers)
      : normalizers_(std::move(normalizers)) {}
  bool apply(std::string& text) const override {
    const size_t size = text.size();
    bool keeps_start = true;
    for (const NormalizerPtr& normalizer : normalizers_) {
      keeps_start &= normalizer->apply(text);
      check_growth(size, text.size());
    }
    return keeps_start;
  }

 private:
  std::vector<NormalizerPtr> normalizers_;
};

}  // namespace

NormalizerPtr make_bert_normalizer(const BertNormalization& options) {
  return make_normalizer([options](std::string& text) { return apply_bert(options, text); });
}

NormalizerPtr make_byte_level_normalizer() {
  return make_normalizer([](std::string& text) {
    text = encode_byte_alphabet(text);
    return true;
  });
}

NormalizerPtr make_charsmap_normalizer(Charsmap charsmap) {
  return make_normalizer([charsmap = std::move(charsmap)](std::string& text) {
    text = apply_to_graphemes(charsmap, text);
    return true;
  });
}

NormalizerPtr make_lowercase_normalizer() {
  return make_normalizer([](std::string& text) {
    text = to_lower_case(text);
    return true;
  });
}

NormalizerPtr make_nmt_normalizer() {
  return make_normalizer(apply_nmt);
}

NormalizerPtr make_normal_form_normalizer(NormalForm form) {
  return make_normalizer([form](std::string& text) {
    text = to_normal_form(text, form);
    return true;
  });
}

NormalizerPtr make_prepend_normalizer(std::string prefix) {
  return make_normalizer([prefix = std::move(prefix)](std::string& text) {
    if (!text.empty()) text.insert(0, prefix);
    return true;
  });
}

NormalizerPtr make_replace_normalizer(std::unique_ptr<const Pattern> pattern, std::string content) {
  return make_normalizer(
      [pattern = std::move(pattern), content = std::move(content)](std::string& text) {
        return replace_matches(*pattern, content, text);
      });
}

NormalizerPtr make_sequence_normalizer(std::vector<NormalizerPtr> normalizers) {
  return std::make_unique<SequenceNormalizer>(std::move(normalizers));
}

NormalizerPtr make_strip_accents_normalizer() {
  return make_normalizer([](std::string& text) { return drop_class(text, kCombiningClass); });
}

NormalizerPtr make_strip_normalizer(bool left, bool right) {
  return make_normalizer(
      [left, right](std::string& text) { return strip_spaces(text, left, right); });
}

}  // namespace arion
