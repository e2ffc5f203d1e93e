// The whole way from a text to ids and back, special tokens included.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_range.h"
#include "text/vocabulary.h"

namespace arion {

// Implementations are immutable after construction: thread-safe.
class TextModel {
 public:
  TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;
  virtual ~TextModel() = default;

  // The ids of `text`, any bytes. Control tokens are found inside `control_ranges` only.
  virtual std::vector<int32_t> encode(std::string_view text,
                                      std::span<const TextRange> control_ranges) const = 0;
  // Puts the tokens that belong around every text around ids.
  virtual std::vector<int32_t> add_special(std::vector<int32_t> ids) const = 0;

  // The text of ids. Ids that are no token are skipped, control tokens unless `shows_control`.
  virtual std::string decode(std::span<const int32_t> ids, bool shows_control) const = 0;
  // What a token adds to a text when it is neither the first nor the last one.
  virtual std::string decode_inside(int32_t id) const = 0;
  // Whether decoding takes a space away from the beginning of a text.
  virtual bool strips_first_space() const = 0;

  // One more than the highest id.
  virtual int32_t size() const = 0;
  // Empty if `id` is no token.
  virtual std::string_view spelling(int32_t id) const = 0;
  // Control, user-defined or normal.
  virtual TokenType type(int32_t id) const = 0;
};

}  // namespace arion
