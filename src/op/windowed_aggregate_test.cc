#include "op/windowed_aggregate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "op/testing/operator_harness.h"
#include "op/testing/plain_aggregators.h"

namespace caudal {
namespace {

constexpr int64_t kSecondMillis = 1000;
constexpr int64_t kMinute = 60 * kSecondMillis;
using WindowColumn = AggregateNode::WindowColumn;

// k STRING, v BIGINT, ts TIMESTAMP(3), $clock → k, COUNT(*), SUM(v), COUNT(DISTINCT k), window_start,
// window_end.
struct WindowedQuery {
  int64_t size = kMinute;
  int64_t slide = kMinute;
  int64_t early = 0;
  bool update_before = true;
  bool retracting = false;
  bool batch = false;
  std::string zone = "UTC";
  bool local = false;
  bool out_clock = false;
  bool newest = false;
};

std::unique_ptr<OperatorHarness> MakeWindowed(const WindowedQuery& query) {
  const std::string time = query.local ? "TIMESTAMP_LTZ(3)" : "TIMESTAMP(3)";
  const Schema input = SchemaLiteral("k STRING, v BIGINT, ts " + time + ", $clock BIGINT NOT NULL");
  std::string columns = "k STRING, n BIGINT, s BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3)";
  if (query.out_clock) columns += ", $clock BIGINT NOT NULL";
  AggregateNode node;
  node.keys = {0};
  node.windowed = true;
  node.window = {query.size, query.slide, 0, 2, query.local};
  node.window_columns = {WindowColumn::kStart, WindowColumn::kEnd};
  node.emit = AggregateNode::Emit::kOnWatermark;
  node.early_fire_delay = query.early;
  node.retracting = query.retracting;
  node.update_before = query.update_before;
  node.newest_window = query.newest;
  auto [calls, aggregators] = PlainAggregators({{"count"}, {"sum", 1}});
  node.calls = calls;
  EvaluatorOptions options;
  options.time_zone = query.zone;
  return std::make_unique<OperatorHarness>(
      std::make_unique<WindowedAggregate>(
          node, input, SchemaLiteral(columns),
          std::make_unique<AccumulatorRow>(std::move(calls), std::move(aggregators)), query.batch),
      input, options);
}

TEST(WindowedAggregate, TumbleFiresOnceAtItsLastMillisecond) {
  auto op = MakeWindowed({});
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:59.999 | 0\na | 4 | 00:01:00 | 0");
  EXPECT_EQ(op->OnWatermark(59'998), "");
  EXPECT_EQ(op->OnWatermark(59'999), "+I | a | 2 | 3 | 00:00:00.000 | 00:01:00.000\n");
  EXPECT_EQ(op->StateRows(), 1);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 1 | 4 | 00:01:00.000 | 00:02:00.000\n");
  EXPECT_EQ(op->StateRows(), 0);
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "Aggregate"), 3);
}

TEST(WindowedAggregate, LatenessIsByTheRowsOwnClock) {
  auto op = MakeWindowed({});
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 59998\na | 2 | 00:00:10 | 59999"),
            "late{watermark} +I | a | 2 | 00:00:10.000 | 59999\n");
  EXPECT_EQ(op->OnWatermark(60'000), "+I | a | 1 | 1 | 00:00:00.000 | 00:01:00.000\n");
}

// The window [0, 2 min) is closed for the third row, by its own clock, though it has not been fired yet.
TEST(WindowedAggregate, RowLateForSomeWindowsCountsInTheOthersOnly) {
  auto op = MakeWindowed({2 * kMinute, kMinute});
  op->Rows("a | 1 | 00:01:10 | 0\na | 2 | 00:02:10 | 70000");
  EXPECT_EQ(op->Rows("a | 4 | 00:01:50 | 130000"), "");
  EXPECT_EQ(op->OnWatermark(130'000), "+I | a | 1 | 1 | 00:00:00.000 | 00:02:00.000\n");
  EXPECT_EQ(op->Rows("a | 8 | 00:01:50 | 130000"), "");
  EXPECT_EQ(op->Rows("a | 16 | 00:00:50 | 130000"), "late{watermark} +I | a | 16 | 00:00:50.000 | 130000\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | a | 4 | 15 | 00:01:00.000 | 00:03:00.000\n"
            "+I | a | 1 | 2 | 00:02:00.000 | 00:04:00.000\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(WindowedAggregate, SplitThatSleptFindsItsWindowClosed) {
  auto op = MakeWindowed({});
  op->OnWatermark(120'000);
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 5000"), "late{idle} +I | a | 1 | 00:00:10.000 | 5000\n");
}

TEST(WindowedAggregate, RowsMadeCarryTheWatermarkSentBefore) {
  WindowedQuery query;
  query.out_clock = true;
  auto op = MakeWindowed(query);
  op->Rows("a | 1 | 00:00:10 | 0");
  op->OnWatermark(30'000);
  EXPECT_EQ(op->OnWatermark(60'000), "+I | a | 1 | 1 | 00:00:00.000 | 00:01:00.000 | 30000\n");
}

TEST(WindowedAggregate, BatchHasNoLateRows) {
  WindowedQuery query;
  query.batch = true;
  auto op = MakeWindowed(query);
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 999999\nNULL | 1 | 00:00:10 | 0"), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd).size(),
            std::string_view("+I | a | 1 | 1 | 00:00:00.000 | 00:01:00.000\n"
                             "+I | NULL | 1 | 1 | 00:00:00.000 | 00:01:00.000\n")
                .size());
}

TEST(WindowedAggregate, GapsBetweenWindowsTakeNoRow) {
  auto op = MakeWindowed({kMinute, 2 * kMinute});
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:01:10 | 0\na | 4 | 00:02:10 | 0");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | a | 1 | 1 | 00:00:00.000 | 00:01:00.000\n+I | a | 1 | 4 | 00:02:00.000 | 00:03:00.000\n");
}

TEST(WindowedAggregate, EarlyResultsAreUpdates) {
  WindowedQuery query{2 * kMinute, kMinute, 10 * kSecondMillis};
  auto op = MakeWindowed(query);
  op->OnWatermark(Watermark::kNone, 1000);
  op->Rows("a | 1 | 00:01:10 | 0");
  EXPECT_EQ(op->OnWatermark(0, 9'999), "");
  EXPECT_EQ(op->OnWatermark(0, 10'000),
            "+I | a | 1 | 1 | 00:00:00.000 | 00:02:00.000\n+I | a | 1 | 1 | 00:01:00.000 | 00:03:00.000\n");
  EXPECT_EQ(op->OnWatermark(0, 20'000), "") << "nothing changed";
  op->Rows("a | 2 | 00:02:10 | 0");
  EXPECT_EQ(op->OnWatermark(0, 30'000),
            "-U | a | 1 | 1 | 00:01:00.000 | 00:03:00.000\n+U | a | 2 | 3 | 00:01:00.000 | 00:03:00.000\n"
            "+I | a | 1 | 2 | 00:02:00.000 | 00:04:00.000\n");
  op->Rows("a | 4 | 00:01:20 | 0");
  EXPECT_EQ(op->OnWatermark(120'000, 30'001),
            "-U | a | 1 | 1 | 00:00:00.000 | 00:02:00.000\n+U | a | 2 | 5 | 00:00:00.000 | 00:02:00.000\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd, 30'002),
            "-U | a | 2 | 3 | 00:01:00.000 | 00:03:00.000\n+U | a | 3 | 7 | 00:01:00.000 | 00:03:00.000\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(WindowedAggregate, EarlyResultsGoOnAfterARestore) {
  WindowedQuery query{2 * kMinute, kMinute, 10 * kSecondMillis};
  auto op = MakeWindowed(query);
  op->OnWatermark(0, 1000);
  op->Rows("a | 1 | 00:00:10 | 0");
  std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op->OnWatermark(0, 10'000);
  op->Rows("a | 2 | 00:00:20 | 0");
  history.push_back(op->Snapshot());
  auto again = MakeWindowed(query);
  again->RestoreFrom(history, op->watermark());
  const std::string expected =
      "-U | a | 1 | 1 | -60000 | 00:01:00.000\n+U | a | 2 | 3 | -60000 | 00:01:00.000\n"
      "-U | a | 1 | 1 | 00:00:00.000 | 00:02:00.000\n+U | a | 2 | 3 | 00:00:00.000 | 00:02:00.000\n";
  EXPECT_EQ(again->OnWatermark(0, 20'000), expected);
  EXPECT_EQ(op->OnWatermark(0, 20'000), expected);
}

TEST(WindowedAggregate, RetractedGroupGoes) {
  WindowedQuery query{kMinute, kMinute, 10 * kSecondMillis};
  query.retracting = true;
  query.update_before = false;
  auto op = MakeWindowed(query);
  op->OnWatermark(0, 0);
  op->Rows("+I | a | 1 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(0, 10'000), "+I | a | 1 | 1 | 00:00:00.000 | 00:01:00.000\n");
  op->Rows("-D | a | 1 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(0, 20'000), "-D | a | 1 | 1 | 00:00:00.000 | 00:01:00.000\n");
  op->Rows("+I | a | 5 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(60'000, 20'001), "+I | a | 1 | 5 | 00:00:00.000 | 00:01:00.000\n");
}

// A day in New York begins at 05:00 UTC in winter; windows are labelled by its wall clock.
TEST(WindowedAggregate, LocalWindowsFollowTheSessionZone) {
  WindowedQuery query{24 * 60 * kMinute, 24 * 60 * kMinute};
  query.local = true;
  query.zone = "America/New_York";
  auto op = MakeWindowed(query);
  op->Rows("a | 1 | 04:59:59.999 | 0\na | 2 | 05:00:00 | 0");
  EXPECT_EQ(op->OnWatermark(5 * 3'600'000 - 2), "");
  EXPECT_EQ(op->OnWatermark(5 * 3'600'000 - 1), "+I | a | 1 | 1 | -86400000 | 00:00:00.000\n");
}

TEST(WindowedAggregate, FiringStopsWhenTheOutputIsFull) {
  auto op = MakeWindowed({});
  std::string rows;
  for (int i = 0; i < 4000; ++i) rows += "k" + std::to_string(i) + " | 1 | 00:00:10 | 0\n";
  op->Rows(rows);
  op->out().full_after = 1;
  op->OnWatermark(Watermark::kEnd);
  EXPECT_EQ(op->out().rows, 4000);
  EXPECT_GE(op->resumes(), 4);
}

// Whether all keys of the table are fired or some of them, listed.
TEST(WindowedAggregate, FiringStopsWhenItTakesLong) {
  for (const int others : {0, 3000}) {
    auto op = MakeWindowed({});
    std::string rows;
    for (int i = 0; i < 1000; ++i) rows += "k" + std::to_string(i) + " | 1 | 00:00:10 | 0\n";
    op->Rows(rows);
    rows.clear();
    for (int i = 0; i < others; ++i) rows += "o" + std::to_string(i) + " | 1 | 00:01:10 | 0\n";
    if (others > 0) op->Rows(rows);
    op->env().tick_micros = 1000;  // 32 keys take a millisecond
    op->OnWatermark(60'000);
    EXPECT_EQ(op->out().rows, 1000);
    EXPECT_GE(op->resumes(), 2);
    EXPECT_EQ(op->StateRows(), others);
  }
}

// Long windows over many slices, so that merged panes are kept, advanced, rebuilt and dropped.
TEST(WindowedAggregate, LongWindowsAgreeWithAModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    WindowedQuery query{40 * kSecondMillis, kSecondMillis};
    auto op = MakeWindowed(query);
    std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> model;
    std::multiset<std::string> emitted, expected;
    int64_t watermark = 0;
    for (int step = 0; step < 150; ++step) {
      std::string rows;
      for (size_t i = 0; i < random() % 6; ++i) {
        const std::string key = "k" + std::to_string(random() % 3);
        const int64_t clock = watermark + static_cast<int64_t>(random() % 1500);
        const int64_t age = random() % 4 == 0 ? static_cast<int64_t>(random() % 60'000) : 0;
        const int64_t time = std::max<int64_t>(0, clock + 2000 - age);
        rows += fmt::format("{} | 1 | {} | {}\n", key, time, clock);
        for (int64_t start = time / kSecondMillis * kSecondMillis; start > time - query.size;
             start -= kSecondMillis) {
          if (clock >= start + query.size - 1) continue;
          auto& [n, sum] = model[{start + query.size, key}];
          ++n;
          ++sum;
        }
      }
      op->Rows(rows);
      watermark += static_cast<int64_t>(random() % 1200);
      for (const std::string& line : SplitTrimmed(op->OnWatermark(watermark), '\n')) {
        if (!line.empty()) emitted.insert(line);
      }
      if (step == 75) {
        const std::vector<std::vector<std::string>> history = {op->Snapshot()};
        const Watermark saved = op->watermark();
        op = MakeWindowed(query);
        op->RestoreFrom(history, saved);
      }
    }
    for (const std::string& line : SplitTrimmed(op->OnWatermark(Watermark::kEnd), '\n')) {
      if (!line.empty()) emitted.insert(line);
    }
    for (const auto& [window, sums] : model) {
      const int64_t start = window.first - query.size;
      expected.insert(fmt::format("+I | {} | {} | {} | {} | {}", window.second, sums.first, sums.second,
                                  MillisText(start), MillisText(window.first)));
    }
    ASSERT_EQ(emitted, expected) << "seed " << seed;
    EXPECT_EQ(op->StateRows(), 0);
    op->Flush();
    EXPECT_LT(op->budget().used(), 128 * 1024) << "nothing is held any more";
  }
}

// Random rows, watermarks, snapshots and restores against sums per window worked out row by row.
TEST(WindowedAggregate, RandomRunsAgreeWithAModel) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    WindowedQuery query;
    query.slide = (static_cast<int64_t>(random() % 4) + 1) * kSecondMillis;
    query.size = (static_cast<int64_t>(random() % 8) + 1) * kSecondMillis;
    if (random() % 3 == 0) query.size = query.slide * (query.size / kSecondMillis);
    auto op = MakeWindowed(query);
    std::map<std::tuple<int64_t, std::string>, std::pair<int64_t, int64_t>> model;  // (end, key) → count, sum
    std::multiset<std::string> expected, emitted;
    std::vector<std::vector<std::string>> history;
    int64_t watermark = 0;
    auto collect = [&](const std::string& text) {
      for (const std::string& line : SplitTrimmed(text, '\n')) {
        if (!line.empty() && line[0] != 'l') emitted.insert(line);
      }
    };
    for (int step = 0; step < 40; ++step) {
      std::string rows;
      for (size_t i = 0; i < random() % 30; ++i) {
        const std::string key = "k" + std::to_string(random() % 6);
        const int64_t value = static_cast<int64_t>(random() % 100);
        const int64_t clock = watermark + static_cast<int64_t>(random() % 3000);
        const int64_t time = std::max<int64_t>(0, clock + 3000 - static_cast<int64_t>(random() % 9000));
        rows += fmt::format("{} | {} | {} | {}\n", key, value, time, clock);
        for (int64_t start = time / query.slide * query.slide; start > time - query.size;
             start -= query.slide) {
          if (clock >= start + query.size - 1) continue;
          auto& [n, sum] = model[{start + query.size, key}];
          ++n;
          sum += value;
        }
      }
      op->Rows(rows);
      if (random() % 2 == 0) {
        watermark += static_cast<int64_t>(random() % 4000);
        collect(op->OnWatermark(watermark));
      }
      if (random() % 3 == 0) {
        const bool full = random() % 4 == 0;
        if (full) history.clear();
        history.push_back(
            op->Snapshot(full ? StateTable::SnapshotKind::kFull : StateTable::SnapshotKind::kDelta));
        if (random() % 2 == 0) {
          const Watermark saved = op->watermark();
          op = MakeWindowed(query);
          op->RestoreFrom(history, saved);
        }
      }
    }
    collect(op->OnWatermark(Watermark::kEnd));
    for (const auto& [window, sums] : model) {
      const auto& [end, key] = window;
      expected.insert(
          fmt::format("+I | {} | {} | {} | {} | {}", key, sums.first, sums.second,
                      end - query.size < 0 ? std::to_string(end - query.size) : MillisText(end - query.size),
                      MillisText(end)));
    }
    ASSERT_EQ(emitted, expected) << "seed " << seed;
    EXPECT_EQ(op->StateRows(), 0);
  }
}

TEST(WindowedAggregate, NewestWindowSkipsThoseThatCloseMeanwhile) {
  WindowedQuery query = {8 * kMinute, kMinute};
  query.newest = true;
  auto op = MakeWindowed(query);
  op->Rows("a | 1 | 00:00:10 | 0\nb | 2 | 00:05:10 | 0\nc | 4 | 00:09:10 | 0");
  EXPECT_EQ(op->OnWatermark(1 * kMinute), "+I | a | 1 | 1 | -420000 | 00:01:00.000\n");  // never fired before
  EXPECT_EQ(op->OnWatermark(2 * kMinute), "");
  EXPECT_EQ(op->Flush(), "+I | a | 1 | 1 | -360000 | 00:02:00.000\n");
  EXPECT_EQ(op->Flush(), "");
  EXPECT_EQ(op->OnWatermark(5 * kMinute), "");
  // Half of the size has passed.
  EXPECT_EQ(op->OnWatermark(6 * kMinute),
            "+I | a | 1 | 1 | -120000 | 00:06:00.000\n"
            "+I | b | 1 | 2 | -120000 | 00:06:00.000\n");
  // The last window of a lies behind those of the others.
  EXPECT_EQ(op->OnWatermark(10 * kMinute),
            "+I | c | 1 | 4 | 00:02:00.000 | 00:10:00.000\n"
            "+I | a | 1 | 1 | 00:00:00.000 | 00:08:00.000\n"
            "+I | b | 1 | 2 | 00:02:00.000 | 00:10:00.000\n");
  EXPECT_EQ(op->StateRows(), 2);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | c | 1 | 4 | 00:09:00.000 | 00:17:00.000\n"
            "+I | b | 1 | 2 | 00:05:00.000 | 00:13:00.000\n");
  EXPECT_EQ(op->StateRows(), 0);
}

// Closed but not fired: the row is as late as it is without newest_window.
TEST(WindowedAggregate, NewestWindowTakesNoRowsOfClosedOnes) {
  WindowedQuery query = {8 * kMinute, kMinute};
  query.newest = true;
  auto op = MakeWindowed(query);
  op->Rows("a | 1 | 00:00:10 | 0");
  op->OnWatermark(1 * kMinute);
  EXPECT_EQ(op->OnWatermark(2 * kMinute), "");
  op->Rows("a | 2 | 00:01:10 | 0");  // its split was idle
  EXPECT_EQ(op->Flush(), "+I | a | 1 | 1 | -360000 | 00:02:00.000\n");
  EXPECT_EQ(op->OnWatermark(6 * kMinute), "+I | a | 2 | 3 | -120000 | 00:06:00.000\n");
}

// What comes during a firing is in none of its windows, of whichever key.
TEST(WindowedAggregate, NewestWindowFiresBesideTheRowsThatCome) {
  WindowedQuery query = {8 * kMinute, kMinute};
  query.newest = true;
  auto op = MakeWindowed(query);
  op->env().tick_micros = 6'000;  // fewer keys a turn
  constexpr int kKeys = 600;
  std::string first, second;
  for (int i = 0; i < kKeys; ++i) {
    first += fmt::format("k{} | 1 | 00:00:10 | 0\n", i);
    second += fmt::format("k{} | 2 | 00:00:50 | 0\n", i);  // of a split that was idle
  }
  op->Rows(first);
  auto fired = [](const std::string& text) { return static_cast<size_t>(std::ranges::count(text, '\n')); };
  std::string all = op->OnWatermark(1 * kMinute);
  EXPECT_LT(fired(all), static_cast<size_t>(kKeys) / 2);
  const std::string beside = op->Rows(second);
  EXPECT_GT(fired(beside), 0u);
  EXPECT_EQ(op->OnWatermark(2 * kMinute), "") << "the one under way goes on with rows";
  all += beside;
  EXPECT_LT(fired(all), static_cast<size_t>(kKeys));
  const std::string rest = op->Flush();
  // The barrier wants the rest of it and then what has closed since.
  EXPECT_EQ(fired(all) + fired(rest), 2u * kKeys);
  size_t of_one = 0, of_both = 0;
  for (const std::string& line : SplitTrimmed(all + rest, '\n')) {
    of_one += line.ends_with("| 1 | 1 | -420000 | 00:01:00.000");
    of_both += line.ends_with("| 2 | 3 | -360000 | 00:02:00.000");
  }
  EXPECT_EQ(of_one, static_cast<size_t>(kKeys));
  EXPECT_EQ(of_both, static_cast<size_t>(kKeys));
  EXPECT_EQ(op->Flush(), "");
}

// At each barrier a table by key holds what it holds without newest_window.
TEST(WindowedAggregate, NewestWindowLeavesTheSameTable) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    WindowedQuery query;
    query.slide = (static_cast<int64_t>(random() % 3) + 1) * kSecondMillis;
    query.size = query.slide * (static_cast<int64_t>(random() % 20) + 1);
    if (random() % 3 == 0) query.size = (static_cast<int64_t>(random() % 20) + 3) * kSecondMillis;
    WindowedQuery newest = query;
    newest.newest = true;
    auto each = MakeWindowed(query);
    const uint64_t keys = seed % 2 == 0 ? 5 : 300;  // so many that a firing takes several turns
    auto make_last = [&] {
      auto made = MakeWindowed(newest);
      made->env().tick_micros = 6'000;
      return made;
    };
    auto last = make_last();
    std::map<std::string, std::string> each_table, last_table;
    auto apply = [](const std::string& text, std::map<std::string, std::string>* table) {
      for (const std::string& line : SplitTrimmed(text, '\n')) {
        if (line.starts_with("+I")) (*table)[line.substr(0, line.find('|', 5))] = line;
      }
    };
    auto late = [](const std::string& text) {
      std::string lines;
      for (const std::string& line : SplitTrimmed(text, '\n')) {
        if (line.starts_with("late")) lines += line + "\n";
      }
      return lines;
    };
    std::vector<std::vector<std::string>> history;
    int64_t watermark = 0;
    for (int step = 0; step < 60; ++step) {
      std::string rows;
      const size_t count = random() % (keys == 5 ? 12 : 150);
      for (size_t i = 0; i < count; ++i) {
        // The clock of an idle split lies behind the watermark.
        const int64_t clock = std::max<int64_t>(0, watermark + static_cast<int64_t>(random() % 6000) - 2000);
        const int64_t time = std::max<int64_t>(0, clock + 4000 - static_cast<int64_t>(random() % 30'000));
        rows += fmt::format("k{} | {} | {} | {}\n", random() % keys, random() % 100, time, clock);
      }
      const std::string beside = last->Rows(rows);
      apply(beside, &last_table);
      ASSERT_EQ(each->Rows(rows), late(beside)) << "seed " << seed;  // the same ones are late
      if (random() % 2 == 0) {
        watermark += static_cast<int64_t>(random() % 5000);
        apply(each->OnWatermark(watermark), &each_table);
        apply(last->OnWatermark(watermark), &last_table);
      }
      if (random() % 4 != 0) continue;
      apply(each->Flush(), &each_table);
      apply(last->Flush(), &last_table);
      ASSERT_EQ(each_table, last_table) << "seed " << seed << ", step " << step;
      history.push_back(last->Snapshot());
      if (random() % 3 != 0) continue;
      const Watermark saved = last->watermark();
      last = make_last();
      last->RestoreFrom(history, saved);
    }
    apply(each->OnWatermark(Watermark::kEnd), &each_table);
    apply(last->OnWatermark(Watermark::kEnd), &last_table);
    ASSERT_EQ(each_table, last_table) << "seed " << seed;
    EXPECT_EQ(last->StateRows(), 0);
  }
}

}  // namespace
}  // namespace caudal
