// How tokens become text: the decoders of tokenizer.json.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "text/pattern.h"

namespace arion {

// Immutable: thread-safe.
class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;
  // Rewrites all tokens of a text. Where the package makes U+FFFD of ill-formed bytes, they stay.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
  // Rewrites a token that is neither the first nor the last one. `is_fused`: an earlier decoder has
  // joined the tokens, so what looks at their ends has nothing to do.
  virtual void apply_inside(std::string& token, bool is_fused) const = 0;
  // Whether a space at the beginning of the text is taken away.
  virtual bool strips_first_space() const { return false; }
  virtual bool fuses() const { return false; }
};
using DecoderPtr = std::unique_ptr<const Decoder>;

DecoderPtr make_bpe_decoder(std::string suffix);
DecoderPtr make_byte_fallback_decoder();
DecoderPtr make_byte_level_decoder();
DecoderPtr make_ctc_decoder(std::string pad, std::string word_delimiter, bool cleans_up);
DecoderPtr make_fuse_decoder();
// `replacement` is one character; `has_prefix`: encoding put one in front of the text.
DecoderPtr make_metaspace_decoder(std::string replacement, bool has_prefix);
DecoderPtr make_replace_decoder(std::unique_ptr<const Pattern> pattern, std::string content);
DecoderPtr make_sequence_decoder(std::vector<DecoderPtr> decoders);
// Takes up to `start` and `stop` times the character `content` from the ends of every token.
DecoderPtr make_strip_decoder(std::string content, size_t start, size_t stop);
DecoderPtr make_wordpiece_decoder(std::string prefix, bool cleans_up);

}  // namespace arion
