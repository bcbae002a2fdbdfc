#include "demo/row_digest.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace caudal {

static_assert(std::endian::native == std::endian::little);

uint64_t RowDigest::Hash(std::string_view line) {
  constexpr uint64_t kStart = 0xcbf29ce484222325;
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t hash = kStart;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  const char* at = line.data();
  size_t left = line.size();
  uint64_t word;
  for (; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (left > 0) {
    word = 0;
    std::memcpy(&word, at, left);
    mix(word);
  }
  return hash;
}

std::string RowDigest::ToString() const { return fmt::format("{}:{:016x}:{:016x}", rows_, sum_, xor_); }

}  // namespace caudal
