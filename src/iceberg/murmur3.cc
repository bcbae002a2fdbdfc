#include <cstring>

#include "iceberg/transform.h"

namespace caudal::iceberg {
namespace {

uint32_t RotateLeft(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

uint32_t Scramble(uint32_t k) { return RotateLeft(k * 0xcc9e2d51u, 15) * 0x1b873593u; }

}  // namespace

int32_t Murmur3(std::string_view bytes) {
  uint32_t hash = 0;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, 4);
    hash = RotateLeft(hash ^ Scramble(word), 13) * 5 + 0xe6546b64u;
  }
  uint32_t tail = 0;
  for (size_t i = bytes.size(); i-- > at;) tail = tail << 8 | static_cast<uint8_t>(bytes[i]);
  if (at < bytes.size()) hash ^= Scramble(tail);
  hash ^= static_cast<uint32_t>(bytes.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return static_cast<int32_t>(hash ^ hash >> 16);
}

}  // namespace caudal::iceberg
