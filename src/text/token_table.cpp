// Hashing of short byte strings, eight bytes at a time.
#include "text/token_table.h"

#include <bit>
#include <cstring>
#include <random>

#include "base/check.h"

namespace arion {
namespace {

uint64_t load(const char* bytes, size_t count) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, count);
  return value;
}

// 64 x 64 -> 128 bit product folded, the mixing step of wyhash (public domain).
uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kOdd1 = 0x9E3779B97F4A7C15;  // golden ratio
constexpr uint64_t kOdd2 = 0xD6E8FEB86659FD93;

}  // namespace

int32_t TokenBytes::add(std::string_view bytes) {
  CHECK(buffer_.size() + bytes.size() <= UINT32_MAX);
  buffer_.append(bytes);
  offsets_.push_back(static_cast<uint32_t>(buffer_.size()));
  return size() - 1;
}

TokenMap::TokenMap(const TokenBytes& bytes, size_t expected_count) : bytes_(bytes) {
  resize(std::bit_ceil(2 * expected_count + 32));
  std::random_device device;
  seed_ = static_cast<uint64_t>(device()) << 32 | device();
}

uint64_t TokenMap::hash(std::string_view bytes) const {
  const char* data = bytes.data();
  size_t left = bytes.size();
  uint64_t state = seed_ ^ (left * kOdd1);
  for (; left > 8; data += 8, left -= 8) state = mix(state ^ load(data, 8), kOdd2);
  uint64_t tail = 0;
  if (left == 8) {
    tail = load(data, 8);
  } else if (left >= 4) {
    tail = load(data, 4) | load(data + left - 4, 4) << 32;
  } else if (left > 0) {
    const auto byte = [data](size_t i) { return uint64_t{static_cast<uint8_t>(data[i])}; };
    tail = byte(0) | byte(left / 2) << 8 | byte(left - 1) << 16;
  }
  return mix(state ^ tail, kOdd1 ^ seed_);
}

void TokenMap::add(int32_t id) {
  if (2 * (count_ + 1) > slots_.size()) resize(2 * slots_.size());
  const std::string_view bytes = bytes_[id];
  const uint64_t h = hash(bytes);
  const size_t mask = slots_.size() - 1;
  size_t at = first_slot(h);
  for (; slots_[at].id != kNoToken; at = (at + 1) & mask) {
    if (bytes_[slots_[at].id] == bytes) return;
  }
  slots_[at] = {static_cast<uint32_t>(h >> 32), id};
  mark(h);
  ++count_;
  max_bytes_ = std::max(max_bytes_, bytes.size());
}

int32_t TokenMap::find(std::string_view bytes, uint64_t h) const {
  if (bytes.size() > max_bytes_) return kNoToken;
  if ((filter_[h >> filter_shift_] >> (h & 63) & 1) == 0) return kNoToken;
  const size_t mask = slots_.size() - 1;
  for (size_t at = first_slot(h); slots_[at].id != kNoToken; at = (at + 1) & mask) {
    if (slots_[at].hash == static_cast<uint32_t>(h >> 32) && bytes_[slots_[at].id] == bytes) {
      return slots_[at].id;
    }
  }
  return kNoToken;
}

void TokenMap::mark(uint64_t hash) {
  filter_[hash >> filter_shift_] |= uint64_t{1} << (hash & 63);
}

void TokenMap::resize(size_t slots) {
  decltype(slots_) old(slots);
  old.swap(slots_);
  filter_.assign(slots * kFilterBitsPerSlot / 64, 0);
  filter_shift_ = 64 - std::countr_zero(filter_.size());
  for (const Slot& slot : old) {
    if (slot.id == kNoToken) continue;
    const uint64_t h = hash(bytes_[slot.id]);
    size_t at = first_slot(h);
    while (slots_[at].id != kNoToken) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
    mark(h);
  }
}

}  // namespace arion
