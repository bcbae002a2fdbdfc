// PositionSet: which rows of a file are deleted, as a compressed bitmap of 64-bit positions.
//
// Belongs to one thread at a time; movable. Kept by CRoaring, which ends in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::iceberg {

class PositionSet {
 public:
  PositionSet();
  ~PositionSet();
  PositionSet(PositionSet&&) noexcept;
  PositionSet& operator=(PositionSet&&) noexcept;

  void Add(int64_t position);  // REQUIRES: position ≥ 0
  void AddAll(const PositionSet& other);
  void RemoveAll(const PositionSet& other);
  bool Contains(int64_t position) const;
  int64_t size() const;
  bool operator==(const PositionSet& other) const;
  std::vector<int64_t> ToVector() const;  // ascending

  // Roaring's portable form of 64 bits: count, then (high half, bitmap of the low halves), ascending.
  std::string Serialize() const;
  // Data error unless the bytes are exactly one set, correct down to the order and number of its members:
  // they come from others, and CRoaring believes what it reads.
  static Result<PositionSet> Deserialize(std::string_view bytes);

 private:
  struct Bitmaps;
  std::unique_ptr<Bitmaps> bitmaps_;
};

}  // namespace caudal::iceberg
