// RowDigest: a fingerprint of a table that does not depend on the order of its rows. Plain data; no thread
// rule.
//
// Each row is a line without line end. Its hash: pad the line with zero bytes to a multiple of 8, read it as
// little-endian 64-bit words, start with h = 0xcbf29ce484222325 and for each word w
//   h = (h xor w) * 0x9e3779b97f4a7c15 (mod 2^64);  h = h xor (h >> 32).
// The digest is the count, the sum (mod 2^64) and the xor of the hashes: a few lines in any language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace caudal {

class RowDigest {
 public:
  static uint64_t Hash(std::string_view line);

  void Add(std::string_view line) {
    const uint64_t hash = Hash(line);
    ++rows_;
    sum_ += hash;
    xor_ ^= hash;
  }

  uint64_t rows() const { return rows_; }
  // "1234:0f…:a0…": count, then sum and xor in 16 hexadecimal digits each.
  std::string ToString() const;

  friend bool operator==(const RowDigest&, const RowDigest&) = default;

 private:
  uint64_t rows_ = 0;
  uint64_t sum_ = 0;
  uint64_t xor_ = 0;
};

}  // namespace caudal
