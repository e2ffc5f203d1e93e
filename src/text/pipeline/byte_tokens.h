// The tokens <0x00> to <0xFF> of a vocabulary.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "text/pipeline/word_models.h"

namespace arion {

class ByteTokens {
 public:
  explicit ByteTokens(const WordVocabulary& vocabulary) {
    for (int byte = 0; byte < 256; ++byte) {
      ids_[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(kNoToken);
    }
  }
  // kNoToken if there is no token for this byte.
  int32_t operator[](char byte) const { return ids_[static_cast<uint8_t>(byte)]; }
  bool contains(int32_t id) const { return std::find(ids_.begin(), ids_.end(), id) != ids_.end(); }
  bool contains_all(std::string_view bytes) const {
    return std::all_of(bytes.begin(), bytes.end(),
                       [this](char byte) { return (*this)[byte] != kNoToken; });
  }

 private:
  std::array<int32_t, 256> ids_;
};

}  // namespace arion
