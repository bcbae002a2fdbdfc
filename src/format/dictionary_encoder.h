// DictionaryEncoder: turns the strings of one column into codes while they repeat enough to be worth it.
//
// One thread, one column of one decoder. The dictionary only grows; columns that name it keep it alive. When
// most strings are new the encoder gives up for good: such a column is quicker flat.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/string_dictionary.h"

namespace caudal {

class DictionaryEncoder {
 public:
  static constexpr int32_t kMaxDistinct = 4096;

  DictionaryEncoder() { Start(0); }

  // False: the next batch is to be flat.
  bool worthwhile() const { return worthwhile_; }
  static constexpr int32_t kFull = -1;
  // The code of `text`, a new one if need be; kFull if there is no room, and then worthwhile() is false.
  int32_t Encode(std::string_view text) {
    ++lookups_;
    const uint64_t hash = Hash(text);
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot slot = slots_[i];
      if (slot.code < 0) return Insert(text, hash);
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && Equal(values_[slot.code].view(), text)) {
        return slot.code;
      }
    }
  }
  // Judges the batch: may make worthwhile() false.
  void EndBatch();
  const StringDictionaryPtr& dictionary() const { return dictionary_; }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t code = -1;
  };

  // Hash and Equal read up to 7 bytes past the text: a call would cost more than the few words of most
  // strings.
  static uint64_t Hash(std::string_view text) {
    constexpr uint64_t kFactor = 0xD6E8FEB86659FD93;
    uint64_t hash = text.size();
    size_t left = text.size();
    for (const char* at = text.data(); left > 0; at += 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      if (left < 8) word &= (uint64_t{1} << (left * 8)) - 1;
      hash = (hash ^ word) * kFactor;
      hash ^= hash >> 32;
      left = left < 8 ? 0 : left - 8;
    }
    hash *= kFactor;
    return hash ^ hash >> 29;
  }
  static bool Equal(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() > 16) return a == b;
    for (size_t at = 0; at < a.size(); at += 8) {
      uint64_t one, other;
      std::memcpy(&one, a.data() + at, 8);
      std::memcpy(&other, b.data() + at, 8);
      const size_t left = a.size() - at;
      const uint64_t mask = left < 8 ? (uint64_t{1} << (left * 8)) - 1 : ~uint64_t{0};
      if (((one ^ other) & mask) != 0) return false;
    }
    return true;
  }
  int32_t Insert(std::string_view text, uint64_t hash);
  void Start(uint64_t id);
  void Grow();

  StringDictionaryPtr dictionary_;
  StringDictionary* writable_ = nullptr;  // the same, for its writer
  const StringView* values_ = nullptr;
  std::vector<Slot> slots_;
  uint64_t mask_ = 0;
  int64_t lookups_ = 0;
  int64_t misses_ = 0;
  bool worthwhile_ = true;
};

}  // namespace caudal
