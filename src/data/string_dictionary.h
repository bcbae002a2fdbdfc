// StringDictionary: the append-only values behind dictionary-coded string columns.
//
// One writer (a decoder) appends while readers on other threads use the codes that were published to them
// with a column: a column records how many values it may see, addresses never move, values never change. When
// it is full (kCapacity) the decoder starts a new one; `id` tells generations apart, for sinks that keep
// codes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "data/buffer.h"
#include "data/string_view.h"

namespace caudal {

class StringDictionary {
 public:
  static constexpr int32_t kCapacity = 65536;

  // `id`: unique among the dictionaries of one column of one decoder, ascending.
  explicit StringDictionary(uint64_t id);

  uint64_t id() const { return id_; }
  const StringView* values() const { return views_; }  // kCapacity slots; read only published codes
  size_t bytes() const;

  // For the writer thread only.
  int32_t size() const { return size_; }
  bool full() const { return size_ == kCapacity; }
  // Copies the bytes and returns the code. REQUIRES: !full().
  int32_t Append(std::string_view value);

 private:
  uint64_t id_;
  int32_t size_ = 0;
  MutableBufferPtr slots_;
  StringView* views_;
  std::vector<MutableBufferPtr> arenas_;
};

}  // namespace caudal
