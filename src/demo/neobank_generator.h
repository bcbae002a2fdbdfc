// NeobankGenerator: the stream of card transactions that the options describe, row after row. One thread;
// what it returns is the caller's.
//
// A row depends on the seed, its index and the newest timestamp before it alone: an earlier row is repeated
// by making it again from its index, so memory stays the same however long the stream is.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "demo/neobank_encoder.h"
#include "demo/neobank_event.h"
#include "demo/neobank_options.h"

namespace caudal {

class NeobankGenerator {
 public:
  // REQUIRES: options.Validate().ok()
  explicit NeobankGenerator(const NeobankOptions& options);

  // The next row, or false after the last.
  bool Next(NeobankEvent* event);
  // Appends up to `events` rows as lines; returns how many, 0 after the last.
  uint64_t NextBlock(uint64_t events, std::string* out);

  uint64_t index() const { return index_; }  // rows given so far

 private:
  enum class Kind { kMalformed, kBroken, kLate, kDuplicate, kLateRetry, kSettled, kAtClock, kOrdinary };
  class Draws;
  using Want = bool (NeobankGenerator::*)(uint64_t index) const;

  Kind KindOf(uint64_t index) const;
  // The row as it would be if nothing special happened at `index`.
  NeobankEvent Ordinary(uint64_t index) const;
  int64_t Progress(uint64_t index) const;
  bool CanBeRepeated(uint64_t index) const;
  bool CanBeSettled(uint64_t index) const;
  // The nearest row at or before `index` that is wanted, if one is near.
  bool FindBack(uint64_t index, Want want, uint64_t* found) const;

  void BreakContract(Draws* draws, NeobankEvent* event) const;
  void Malform(Draws* draws, NeobankEvent* event) const;
  void MakeLate(Draws* draws, NeobankEvent* event) const;
  void Repeat(Draws* draws, NeobankEvent* event) const;
  void RepeatLate(Draws* draws, NeobankEvent* event) const;
  void Settle(Draws* draws, NeobankEvent* event) const;
  uint64_t RowsIn(int64_t event_time_ms) const;
  bool has_clock() const { return newest_ms_ != kNothingSeen; }
  int64_t clock() const { return newest_ms_ - options_.watermark_delay_ms; }

  static constexpr int64_t kNothingSeen = std::numeric_limits<int64_t>::min();

  const NeobankOptions options_;
  const uint64_t start_state_;
  uint64_t kind_limits_[7];  // upper bounds of the first draw, by Kind
  uint64_t not_completed_limit_;
  uint64_t not_positive_limit_;
  uint64_t index_ = 0;
  int64_t newest_ms_ = kNothingSeen;
  NeobankEncoder encoder_;
  std::vector<char> buffer_;
};

}  // namespace caudal
