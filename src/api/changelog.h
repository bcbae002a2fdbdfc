// ChangelogKinds: which row kinds an edge of a plan may carry; part of every plan node and sink.
#pragma once

#include <cstdint>
#include <string>

namespace caudal {

class ChangelogKinds {
 public:
  static constexpr uint8_t kI = 1, kUB = 2, kUA = 4, kD = 8;

  constexpr ChangelogKinds() = default;
  constexpr explicit ChangelogKinds(uint8_t bits) : bits_(bits) {}
  static constexpr ChangelogKinds InsertOnly() { return ChangelogKinds(kI); }
  static constexpr ChangelogKinds Upsert() { return ChangelogKinds(kI | kUA | kD); }
  static constexpr ChangelogKinds All() { return ChangelogKinds(kI | kUB | kUA | kD); }

  constexpr uint8_t bits() const { return bits_; }
  constexpr bool insert_only() const { return bits_ == kI; }
  constexpr bool contains(ChangelogKinds other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr ChangelogKinds operator|(ChangelogKinds other) const {
    return ChangelogKinds(bits_ | other.bits_);
  }
  // As Flink's EXPLAIN prints it: "[I,UB,UA,D]".
  std::string ToString() const {
    std::string text = "[";
    static constexpr const char* kNames[] = {"I", "UB", "UA", "D"};
    for (int i = 0; i < 4; ++i) {
      if (bits_ >> i & 1) text.append(text.size() > 1 ? "," : "").append(kNames[i]);
    }
    return text + "]";
  }
  constexpr bool operator==(const ChangelogKinds& other) const = default;

 private:
  uint8_t bits_ = kI;
};

}  // namespace caudal
