#include "run/scan/split_clock.h"

#include <gtest/gtest.h>

#include "data/column_builder.h"

namespace caudal {
namespace {

ColumnPtr Times(const std::vector<int64_t>& millis) {
  ColumnBuilder builder(Type::Timestamp(3));
  for (int64_t value : millis) value == INT64_MIN ? builder.AppendNull() : builder.Append(value * 1000);
  return builder.Finish();
}

TEST(SplitClock, ARowCarriesTheClockBeforeIt) {
  const ColumnPtr times = Times({5, 3, INT64_MIN, 9, 9});
  SplitClock clock;
  SplitClock::Rows rows;
  rows.watermark = rows.time = times.get();
  int64_t before[5];
  EXPECT_EQ(clock.Advance(rows, {nullptr, 5}, before), 0);
  EXPECT_EQ(std::vector<int64_t>(before, before + 5), (std::vector<int64_t>{Watermark::kNone, 5, 5, 5, 9}));
  EXPECT_EQ(clock.now(), 9);
}

TEST(SplitClock, ADayInTheFutureDoesNotMoveIt) {
  const ColumnPtr times = Times({1000, 86'400'000, 2000});
  SplitClock clock;
  SplitClock::Rows rows;
  rows.watermark = rows.time = times.get();
  rows.wall_millis = 1000;
  rows.max_skew = 300'000;
  int64_t before[3];
  EXPECT_EQ(clock.Advance(rows, {nullptr, 3}, before), 1);
  EXPECT_EQ(before[2], 1000);
  EXPECT_EQ(clock.now(), 2000);
}

// A producer whose clock is a day ahead tells that day twice: as the event's time and as the record's.
TEST(SplitClock, AnArrivalInTheFutureIsNow) {
  const ColumnPtr times = Times({1000, 86'400'000, 2000});
  ColumnBuilder told(Type(TypeId::kBigInt));
  for (int64_t millis : {1000, 86'400'000, 2000}) told.Append(millis);
  const ColumnPtr arrivals = told.Finish();
  SplitClock clock;
  SplitClock::Rows rows;
  rows.watermark = rows.time = times.get();
  rows.arrival = arrivals.get();
  rows.wall_millis = 3000;
  rows.max_skew = 300'000;
  int64_t before[3];
  EXPECT_EQ(clock.Advance(rows, {nullptr, 3}, before), 1);
  EXPECT_EQ(clock.now(), 2000);
}

TEST(SplitClock, TimesBeforeTheEpochRoundDown) {
  ColumnBuilder builder(Type::Timestamp(6));
  builder.Append<int64_t>(-1);
  const ColumnPtr times = builder.Finish();
  SplitClock clock;
  SplitClock::Rows rows;
  rows.watermark = rows.time = times.get();
  int64_t before[1];
  clock.Advance(rows, {nullptr, 1}, before);
  EXPECT_EQ(clock.now(), -1);
}

}  // namespace
}  // namespace caudal
