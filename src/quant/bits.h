// Bit layouts that several formats share.
#pragma once
#include <cstdint>
#include <cstring>

namespace arion {

// 32 codes of 4 bits: byte i holds code i in its low half and code i + 16 in its high half.
inline void split_nibbles(const uint8_t (&bytes)[16], uint8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    codes[i] = bytes[i] & 15;
    codes[i + 16] = bytes[i] >> 4;
  }
}

inline void join_nibbles(const uint8_t* codes, uint8_t (&bytes)[16]) {
  for (int i = 0; i < 16; ++i) {
    bytes[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
  }
}

// The fifth bits of 32 codes, bit i of four bytes in order.
inline void split_fifth_bits(const uint8_t (&bytes)[4], uint8_t* codes) {
  for (int i = 0; i < 4; ++i) {
    // Eight copies of the byte, each keeping its own bit, which the addition carries to the top.
    const uint64_t own = (bytes[i] * 0x0101010101010101u) & 0x8040201008040201u;
    const uint64_t fifth = ((own + 0x7f7f7f7f7f7f7f7fu) & 0x8080808080808080u) >> 3;
    uint64_t eight;
    std::memcpy(&eight, codes + 8 * i, sizeof eight);
    eight |= fifth;
    std::memcpy(codes + 8 * i, &eight, sizeof eight);
  }
}

inline void join_fifth_bits(const uint8_t* codes, uint8_t (&bytes)[4]) {
  for (int i = 0; i < 4; ++i) {
    uint64_t eight;
    std::memcpy(&eight, codes + 8 * i, sizeof eight);
    // The product carries the bit of byte k to bit 56 + k; no two bits meet.
    bytes[i] =
        static_cast<uint8_t>(((eight >> 4 & 0x0101010101010101u) * 0x0102040810204080u) >> 56);
  }
}

// Four bytes as a number, lowest first.
inline uint32_t load_u32(const uint8_t (&bytes)[4]) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline void store_u32(uint32_t value, uint8_t (&bytes)[4]) {
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace arion
