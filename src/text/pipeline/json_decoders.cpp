// Decoders of tokenizer.json.
#include "text/pipeline/json_parts.h"

namespace arion {
namespace {

constexpr uint64_t kMostStrips = 1 << 20;

DecoderPtr read_decoder_sequence(const JsonObject& part, PartBudget& budget) {
  std::vector<DecoderPtr> decoders;
  for (const JsonElement element : part.array("decoders")) {
    decoders.push_back(read_decoder(JsonObject(element, part.where() + ".decoders"), budget));
  }
  return make_sequence_decoder(std::move(decoders));
}

DecoderPtr read_metaspace_decoder(const JsonObject& part) {
  const auto scheme = part.find_string("prepend_scheme");
  const bool has_prefix = scheme ? *scheme != "never" : part.boolean("add_prefix_space", true);
  return make_metaspace_decoder(read_char(part, "replacement"), has_prefix);
}

}  // namespace

DecoderPtr read_decoder(const JsonObject& part, PartBudget& budget) {
  budget.take(part);
  const std::string_view type = part.string("type");
  const auto text = [&part](std::string_view key, std::string_view if_missing) {
    return std::string(part.find_string(key).value_or(if_missing));
  };
  if (type == "Sequence") return read_decoder_sequence(part, budget);
  if (type == "BPEDecoder") return make_bpe_decoder(text("suffix", "</w>"));
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "CTC") {
    return make_ctc_decoder(text("pad_token", "<pad>"), text("word_delimiter_token", "|"),
                            part.boolean("cleanup", true));
  }
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Metaspace") return read_metaspace_decoder(part);
  if (type == "Replace") return make_replace_decoder(read_pattern(part), read_content(part));
  if (type == "Strip") {
    return make_strip_decoder(read_char(part, "content"),
                              part.find_integer("start", kMostStrips).value_or(0),
                              part.find_integer("stop", kMostStrips).value_or(0));
  }
  if (type == "WordPiece") {
    return make_wordpiece_decoder(text("prefix", "##"), part.boolean("cleanup", true));
  }
  fail_part(part, type,
            "BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, Strip, "
            "WordPiece");
}

}  // namespace arion
