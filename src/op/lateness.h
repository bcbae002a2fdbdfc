// Lateness: the one place where a row is compared with its clock. Every operator asks here.
//
// The clock is the row's own ($clock): where its split stood before it, in ms; kNone if the split has seen
// nothing or if the query runs as a batch, where nothing is late.
#pragma once

#include <cstdint>
#include <optional>

#include "data/column_view.h"
#include "data/message.h"
#include "data/schema.h"

namespace caudal {

enum class LateRule : uint8_t {
  kWindow,    // time = the window's end: late once the window has been fired
  kRow,       // DEDUPLICATE, OVER: a row at the clock itself is late
  kFirstRow,  // ROW_NUMBER on ascending row time: a row at the clock itself is in time, as in Flink
};

inline bool IsLate(LateRule rule, int64_t clock, int64_t time) {
  switch (rule) {
    case LateRule::kWindow:
      return clock >= time - 1;
    case LateRule::kRow:
      return clock >= time;
    case LateRule::kFirstRow:
      return clock > time;
  }
  return false;
}

// Whether a key first seen at `first` and kept for `retain` ms is still known to a row with this clock.
inline bool IsWithinRetention(int64_t clock, int64_t first, int64_t retain) {
  int64_t end;
  return __builtin_add_overflow(first, retain, &end) || clock < end;
}

// Reads the clocks of a chunk's rows.
class ClockColumn {
 public:
  explicit ClockColumn(const Column* column) {
    if (column != nullptr) view_.emplace(*column);
  }
  int64_t operator[](int32_t row) const { return view_ ? (*view_)[row] : Watermark::kNone; }

 private:
  std::optional<ColumnView<int64_t>> view_;
};

// Reads a time attribute in ms.
class TimeColumn {
 public:
  explicit TimeColumn(const Column& column)
      : view_(column), ticks_per_milli_(column.type().ticks_per_second() / 1000) {}
  bool IsNull(int32_t row) const { return view_.IsNull(row); }
  int64_t operator[](int32_t row) const {
    const int64_t ticks = view_[row];
    // TIMESTAMP(3) is stored in µs: a division by a constant is a multiplication.
    if (ticks_per_milli_ == 1000) return ticks / 1000 - (ticks % 1000 < 0 ? 1 : 0);
    return ticks / ticks_per_milli_ - (ticks % ticks_per_milli_ < 0 ? 1 : 0);
  }

 private:
  ColumnView<int64_t> view_;
  int64_t ticks_per_milli_;
};

}  // namespace caudal
