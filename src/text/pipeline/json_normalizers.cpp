// Normalizers of tokenizer.json.
#include "base/error.h"
#include "text/base64.h"
#include "text/pipeline/json_parts.h"

namespace arion {
namespace {

NormalizerPtr read_normalizer_sequence(const JsonObject& part, PartBudget& budget) {
  std::vector<NormalizerPtr> normalizers;
  for (const JsonElement element : part.array("normalizers")) {
    normalizers.push_back(
        read_normalizer(JsonObject(element, part.where() + ".normalizers"), budget));
  }
  return make_sequence_normalizer(std::move(normalizers));
}

NormalizerPtr read_bert(const JsonObject& part) {
  BertNormalization options;
  options.cleans_text = part.boolean("clean_text", true);
  options.isolates_chinese = part.boolean("handle_chinese_chars", true);
  options.lowers_case = part.boolean("lowercase", true);
  if (part.find("strip_accents")) options.strips_accents = part.boolean("strip_accents", false);
  return make_bert_normalizer(options);
}

NormalizerPtr read_precompiled(const JsonObject& part) {
  const auto blob = decode_base64(part.string("precompiled_charsmap"));
  if (!blob) fail(ErrorCode::bad_input, "{}.precompiled_charsmap is no base64", part.where());
  return make_charsmap_normalizer(Charsmap(*blob));
}

}  // namespace

NormalizerPtr read_normalizer(const JsonObject& part, PartBudget& budget) {
  budget.take(part);
  const std::string_view type = part.string("type");
  if (type == "Sequence") return read_normalizer_sequence(part, budget);
  if (type == "BertNormalizer") return read_bert(part);
  if (type == "ByteLevel") return make_byte_level_normalizer();
  if (type == "Lowercase") return make_lowercase_normalizer();
  if (type == "NFC") return make_normal_form_normalizer(NormalForm::nfc);
  if (type == "NFD") return make_normal_form_normalizer(NormalForm::nfd);
  if (type == "NFKC") return make_normal_form_normalizer(NormalForm::nfkc);
  if (type == "NFKD") return make_normal_form_normalizer(NormalForm::nfkd);
  if (type == "Nmt") return make_nmt_normalizer();
  if (type == "Precompiled") return read_precompiled(part);
  if (type == "Prepend") return make_prepend_normalizer(std::string(part.string("prepend")));
  if (type == "Replace") return make_replace_normalizer(read_pattern(part), read_content(part));
  if (type == "Strip") {
    return make_strip_normalizer(part.boolean("strip_left", true),
                                 part.boolean("strip_right", true));
  }
  if (type == "StripAccents") return make_strip_accents_normalizer();
  fail_part(
      part, type,
      "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, "
      "Replace, Sequence, Strip, StripAccents");
}

}  // namespace arion
