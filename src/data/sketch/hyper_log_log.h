// HyperLogLog: how many different values there were, in 4 KiB, within a standard error of 1.6 %.
//
// 2^12 registers and Ertl's estimator, which needs no bias tables. A small set is kept as sorted entries of
// 25 bits of hash, from which the registers can be made exactly: up to kSparseLimit values the count is exact
// but for one in 100,000. Which form a sketch has depends on its set of values alone, never on order or
// merging, so that a rebuild gives the same estimate. Not thread-safe. The bytes of Serialize are version 1
// for ever; docs/formats/hyper-log-log.md has the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace caudal {

class HyperLogLog {
 public:
  static constexpr int kPrecision = 12;
  static constexpr size_t kRegisters = size_t{1} << kPrecision;
  static constexpr size_t kSparseLimit = 256;

  // The hash that Add takes: the same on every machine, for ever.
  static uint64_t Hash(const void* bytes, size_t size);

  void Add(uint64_t hash);
  // This becomes the sketch of both sets.
  void Merge(const HyperLogLog& other);
  // This becomes the same as `other`, in the memory that it has.
  void Assign(const HyperLogLog& other);
  // Fetches ahead what Add will look at.
  void Prefetch() const { __builtin_prefetch(sparse_.data(), 1); }
  int64_t Estimate() const;

  size_t bytes() const { return sparse_.capacity() * sizeof(uint32_t) + (dense_ ? kRegisters : 0); }

  void Serialize(std::string* out) const;
  // Consumes a sketch from the front of `in`; false when the bytes are damaged.
  bool Deserialize(std::string_view* in);

 private:
  void AddEntry(uint32_t entry);
  void Zip(const std::vector<uint32_t>& other);  // both sparse
  void MakeDense();
  void RaiseAll(const std::vector<uint32_t>& entries);
  void Raise(size_t index, uint8_t rank) {
    if (dense_[index] < rank) dense_[index] = rank;
  }

  std::vector<uint32_t> sparse_;      // ascending, one for each 25-bit prefix
  std::unique_ptr<uint8_t[]> dense_;  // kRegisters ranks; kept by Assign even while not in use
  bool is_dense_ = false;
};

}  // namespace caudal
