// NameDigest: a set of file names, as small as two numbers: whether two sets are the same, how many names one
// has more, and which one it is, if it is one. Plain data.
#pragma once

#include <cstdint>
#include <string_view>

namespace caudal {

// FNV-1a, the same for ever.
inline uint64_t HashOfName(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

struct NameDigest {
  int64_t count = -1;  // -1: not known
  uint64_t sum = 0;    // of the names' hashes
  bool operator==(const NameDigest&) const = default;

  bool known() const { return count >= 0; }
  void Add(std::string_view name) {
    ++count;
    sum += HashOfName(name);
  }
  void Remove(std::string_view name) {
    --count;
    sum -= HashOfName(name);
  }
};

}  // namespace caudal
