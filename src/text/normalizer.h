// How a text is rewritten before it is cut: the normalizers of tokenizer.json.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/charsmap.h"
#include "text/normal_form.h"
#include "text/pattern.h"

namespace arion {

// Immutable: thread-safe.
class Normalizer {
 public:
  Normalizer() = default;
  Normalizer(const Normalizer&) = delete;
  Normalizer& operator=(const Normalizer&) = delete;
  virtual ~Normalizer() = default;
  // Rewrites `text`, any bytes. Returns whether the first character is still there in some form:
  // pre-tokenizers ask whether a piece begins where the original text does. Throws Error if the
  // text would become too long.
  virtual bool apply(std::string& text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

struct BertNormalization {
  bool cleans_text = true;       // drops control characters, makes white space a space
  bool isolates_chinese = true;  // puts spaces around CJK ideographs
  bool lowers_case = true;
  std::optional<bool> strips_accents;  // absent: as lowers_case
};

NormalizerPtr make_bert_normalizer(const BertNormalization& options);
NormalizerPtr make_byte_level_normalizer();
NormalizerPtr make_charsmap_normalizer(Charsmap charsmap);
NormalizerPtr make_lowercase_normalizer();
NormalizerPtr make_nmt_normalizer();
NormalizerPtr make_normal_form_normalizer(NormalForm form);
NormalizerPtr make_prepend_normalizer(std::string prefix);
NormalizerPtr make_replace_normalizer(std::unique_ptr<const Pattern> pattern, std::string content);
NormalizerPtr make_sequence_normalizer(std::vector<NormalizerPtr> normalizers);
NormalizerPtr make_strip_accents_normalizer();
NormalizerPtr make_strip_normalizer(bool left, bool right);

}  // namespace arion
