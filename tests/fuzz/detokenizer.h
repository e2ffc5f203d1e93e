// What the fuzzer of the detokenizer does with one input: tokens, text and stop strings of any
// kind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"
#include "text/tiny_vocabulary.h"

namespace arion::test {

// Streamed text is the repaired text of the exact bytes, whole characters in every part; the bytes
// are those of decoding at once; encoded text comes back; a stop matcher shows what is before the
// stop string. The input: a byte of options, a stop string up to a zero byte, then the ids or text.
inline void fuzz_detokenizer(std::string_view input) {
  static const Tokenizer bytes(
      byte_vocabulary({"\u0120 a", "\u0120a b", "\u00e2 \u0124", "\u00f0 \u0141", "a a"}));
  static const Tokenizer pieces(
      piece_vocabulary({"\u2581a", "\u2581", "ab", "\u2581\u2581", "\u00e9", "\U0001f600"}));
  if (input.empty()) return;
  const auto flags = static_cast<uint8_t>(input[0]);
  const Tokenizer& tokenizer = (flags & 1) != 0 ? pieces : bytes;
  const DetokenizeOptions options{.show_control = (flags & 2) != 0,
                                  .continues_text = (flags & 4) != 0};
  input.remove_prefix(1);
  const size_t zero = input.find('\0');
  const std::string stop(input.substr(0, zero));
  const std::string_view rest =
      zero == std::string_view::npos ? std::string_view() : input.substr(zero + 1);

  // Two bytes at a time where one would not reach the last tokens.
  std::vector<int32_t> ids;
  for (size_t i = 0; i + 1 < rest.size(); i += 2) {
    const int pair = static_cast<uint8_t>(rest[i]) << 8 | static_cast<uint8_t>(rest[i + 1]);
    ids.push_back(pair % tokenizer.size());
  }
  const std::string exact = decode_bytes(tokenizer, ids, options);
  Detokenizer by_bytes(tokenizer, options), by_text(tokenizer, options);
  std::string joined, text;
  for (const int32_t id : ids) {
    joined += by_bytes.push_bytes(id);
    const std::string part = by_text.push(id);
    CHECK(repair_utf8(part) == part);
    text += part;
  }
  text += by_text.finish();
  CHECK(joined == exact);
  CHECK(text == repair_utf8(exact));

  // A visible space is a space to models of pieces, and nothing else.
  if (&tokenizer == &bytes || rest.find("\u2581") == std::string_view::npos) {
    const auto encoded = tokenizer.encode(rest, {.add_special = false, .parse_special = false});
    CHECK(decode_bytes(tokenizer, encoded) == rest);
  }

  if (stop.empty() || stop.size() > 100) return;
  StopMatcher matcher(std::vector<std::string>{stop});
  std::string shown;
  for (size_t at = 0; at < rest.size(); at += 1 + flags / 8u) {
    shown += matcher.push(rest.substr(at, 1 + flags / 8u));
  }
  shown += matcher.finish();
  CHECK(shown == rest.substr(0, rest.find(stop)));
}

}  // namespace arion::test
