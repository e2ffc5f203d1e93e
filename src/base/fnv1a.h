// FNV-1a of 64 bits: a hash that is the same everywhere, for bytes that nobody forges.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace arion {

class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      state_ = (state_ ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace arion
