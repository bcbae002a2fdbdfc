// NeobankRecords: the stream as the records of a log with several partitions, keyed by account, so that all
// rows of an account, and with them all repeats of a transaction, are in one partition and in order. One
// thread; the caller sends them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "demo/neobank_encoder.h"
#include "demo/neobank_expectation.h"
#include "demo/neobank_generator.h"
#include "demo/neobank_options.h"

namespace caudal {

struct NeobankRecord {
  uint32_t partition;
  uint64_t offset;         // in the partition
  uint64_t index;          // in the stream
  std::string_view key;    // until the next record, as the value
  std::string_view value;  // the line of the same row's file, without its end
};

class NeobankRecords {
 public:
  // Shows every row to `expectation` too, which outlives this, unless it is null.
  // REQUIRES: options.Validate().ok(); the expectation was made with the same options
  NeobankRecords(const NeobankOptions& options, NeobankExpectation* expectation);

  // The next one; false after the last.
  bool Next(NeobankRecord* record);

  uint64_t sent(uint32_t partition) const { return sent_[partition]; }

  // Where Kafka's Java client puts a record with this key unless it is told otherwise: murmur2, positive,
  // modulo.
  static uint32_t PartitionOf(std::string_view key, uint32_t partitions);

 private:
  static constexpr size_t kAhead = 32;  // rows, so that the expectation need not wait for memory

  NeobankExpectation* const expectation_;
  NeobankGenerator generator_;
  NeobankEncoder encoder_;
  std::vector<uint64_t> sent_;  // by partition
  NeobankEvent ahead_[kAhead];
  size_t next_ = 0, ready_ = 0;  // in ahead_
  uint64_t index_ = 0;
  char key_[NeobankText::kLongestValue];
  char line_[NeobankText::kLongestLine];
};

}  // namespace caudal
