#include "op/session_aggregate.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "op/testing/operator_harness.h"
#include "op/testing/plain_aggregators.h"

namespace caudal {
namespace {

// k STRING, v BIGINT, ts, $clock → k, COUNT(*), SUM(v), window_start, window_end; a gap of 10 s.
struct SessionQuery {
  bool batch = false;
  std::string zone = "UTC";
  bool local = false;
  bool window_time = false;
};

std::unique_ptr<OperatorHarness> MakeSessions(const SessionQuery& query = {}) {
  const std::string time = query.local ? "TIMESTAMP_LTZ(3)" : "TIMESTAMP(3)";
  const Schema input = SchemaLiteral("k STRING, v BIGINT, ts " + time + ", $clock BIGINT NOT NULL");
  std::string columns = "k STRING, n BIGINT, s BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3)";
  if (query.window_time) columns += ", window_time " + time + ", $clock BIGINT NOT NULL";
  AggregateNode node;
  node.keys = {0};
  node.windowed = true;
  node.window = {10'000, 0, 0, 2, query.local};
  node.window_columns = {AggregateNode::WindowColumn::kStart, AggregateNode::WindowColumn::kEnd};
  if (query.window_time) node.window_columns.push_back(AggregateNode::WindowColumn::kTime);
  node.emit = AggregateNode::Emit::kOnWatermark;
  auto [calls, aggregators] = PlainAggregators({{"count"}, {"sum", 1}});
  node.calls = calls;
  EvaluatorOptions options;
  options.time_zone = query.zone;
  return std::make_unique<OperatorHarness>(
      std::make_unique<SessionAggregate>(
          node, input, SchemaLiteral(columns),
          std::make_unique<AccumulatorRow>(std::move(calls), std::move(aggregators)), query.batch),
      input, options);
}

TEST(SessionAggregate, ASessionEndsAGapBehindItsLastRow) {
  auto op = MakeSessions();
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:19 | 0\nb | 4 | 00:00:12 | 0\na | 8 | 00:00:30 | 0");
  EXPECT_EQ(op->OnWatermark(21'998), "");
  EXPECT_EQ(op->OnWatermark(21'999), "+I | b | 1 | 4 | 00:00:12.000 | 00:00:22.000\n");
  EXPECT_EQ(op->OnWatermark(29'000), "+I | a | 2 | 3 | 00:00:10.000 | 00:00:29.000\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 1 | 8 | 00:00:30.000 | 00:00:40.000\n");
  EXPECT_EQ(op->StateRows(), 0);
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "Aggregate"), 4);
}

// KF-10: as in Flink, rows exactly a gap apart are of one session.
TEST(SessionAggregate, RowsExactlyAGapApartAreOfOneSession) {
  auto op = MakeSessions();
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:20 | 0\nb | 1 | 00:00:10 | 0\nb | 2 | 00:00:20.001 | 0");
  op->Rows("c | 2 | 00:00:20 | 0\nc | 1 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | b | 1 | 1 | 00:00:10.000 | 00:00:20.000\n"
            "+I | c | 2 | 3 | 00:00:10.000 | 00:00:30.000\n"
            "+I | a | 2 | 3 | 00:00:10.000 | 00:00:30.000\n"
            "+I | b | 1 | 2 | 00:00:20.001 | 00:00:30.001\n");
}

// One that is out of order makes one session of several, in the middle of a chunk too.
TEST(SessionAggregate, ARowBetweenSessionsMakesThemOne) {
  auto op = MakeSessions();
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:30 | 0\na | 4 | 00:00:50 | 0");
  op->Rows("a | 8 | 00:00:31 | 0\na | 16 | 00:00:20 | 0\na | 32 | 00:00:09 | 0\na | 64 | 00:01:15 | 0");
  EXPECT_EQ(op->OnWatermark(40'999), "+I | a | 5 | 59 | 00:00:09.000 | 00:00:41.000\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | a | 1 | 4 | 00:00:50.000 | 00:01:00.000\n"
            "+I | a | 1 | 64 | 00:01:15.000 | 00:01:25.000\n");
}

// By its own end the row is late, but the session that it belongs to is open.
TEST(SessionAggregate, ALateRowCountsInAnOpenSession) {
  auto op = MakeSessions();
  op->Rows("a | 1 | 00:00:20 | 0");
  EXPECT_EQ(op->Rows("a | 2 | 00:00:12 | 25000\nb | 4 | 00:00:12 | 25000\na | 8 | 00:00:09 | 25000"),
            "late{watermark} +I | b | 4 | 00:00:12.000 | 25000\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 3 | 11 | 00:00:09.000 | 00:00:30.000\n");
  EXPECT_EQ(op->StateRows(), 0);
}

// Which session a row is in hangs on its own clock alone, and not on when the session was fired.
TEST(SessionAggregate, ASessionThatTheRowsClockHasClosedTakesItNotIn) {
  const std::string first = "a | 1 | 00:00:10 | 0";
  const std::string second = "a | 2 | 00:00:15 | 19999\na | 4 | 00:00:09 | 19999";
  const std::string late = "late{watermark} +I | a | 4 | 00:00:09.000 | 19999\n";
  const std::string one = "+I | a | 1 | 1 | 00:00:10.000 | 00:00:20.000\n";
  const std::string other = "+I | a | 1 | 2 | 00:00:15.000 | 00:00:25.000\n";
  {
    auto op = MakeSessions();
    op->Rows(first);
    EXPECT_EQ(op->OnWatermark(19'999), one);
    EXPECT_EQ(op->Rows(second), "");  // it touches the one of 15, which is open
    EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 2 | 6 | 00:00:09.000 | 00:00:25.000\n");
  }
  {
    auto op = MakeSessions();
    EXPECT_EQ(op->Rows(first + "\n" + second), "");
    EXPECT_EQ(op->OnWatermark(Watermark::kEnd), one + "+I | a | 2 | 6 | 00:00:09.000 | 00:00:25.000\n");
  }
  {
    auto op = MakeSessions();
    EXPECT_EQ(op->Rows(first + "\na | 4 | 00:00:09 | 19999\na | 2 | 00:00:15 | 19999"), late);
    EXPECT_EQ(op->OnWatermark(Watermark::kEnd), one + other);
  }
}

// docs/operators.md says so: of two splits more than a gap apart, who comes first decides.
TEST(SessionAggregate, OfSplitsFarApartTheOrderDecides) {
  const std::string open = "a | 1 | 00:00:02 | 0\n";  // the session [2, 12)
  const std::string ahead = "a | 2 | 00:00:11 | 15000", behind = "a | 4 | 00:00:01 | 0";
  auto op = MakeSessions();
  op->Rows(open + behind + "\n" + ahead);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | a | 2 | 5 | 00:00:01.000 | 00:00:12.000\n"
            "+I | a | 1 | 2 | 00:00:11.000 | 00:00:21.000\n");
  op = MakeSessions();
  op->Rows(open + ahead + "\n" + behind);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 3 | 7 | 00:00:01.000 | 00:00:21.000\n");
}

TEST(SessionAggregate, ARowWhoseSplitWasIdleIsTooLate) {
  auto op = MakeSessions();
  op->OnWatermark(60'000);
  EXPECT_EQ(op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:55 | 0"),
            "late{idle} +I | a | 1 | 00:00:10.000 | 0\n");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 1 | 2 | 00:00:55.000 | 00:01:05.000\n");
}

TEST(SessionAggregate, NothingIsLateInABatch) {
  auto op = MakeSessions({.batch = true});
  EXPECT_EQ(op->Rows("a | 1 | 00:01:10 | 0\na | 2 | 00:00:10 | 70000"), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd),
            "+I | a | 1 | 2 | 00:00:10.000 | 00:00:20.000\n"
            "+I | a | 1 | 1 | 00:01:10.000 | 00:01:20.000\n");
}

TEST(SessionAggregate, ARowWithoutATimeIsRefused) {
  auto op = MakeSessions();
  EXPECT_EQ(op->Rows("a | 1 | NULL | 0"), "dead{contract} +I | a | 1 | NULL | 0\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(SessionAggregate, BoundsAreWallClockTimesAndTheTimeIsAnInstant) {
  auto op = MakeSessions({.zone = "Asia/Kolkata", .local = true, .window_time = true});
  op->Rows("a | 1 | 00:00:10 | 0");
  EXPECT_EQ(op->OnWatermark(19'998), "");
  EXPECT_EQ(op->OnWatermark(19'999), "+I | a | 1 | 1 | 05:30:10.000 | 05:30:20.000 | 00:00:19.999 | 19998\n");
}

// Snapshots of what changed, then another operator goes on.
TEST(SessionAggregate, GoesOnFromItsSnapshots) {
  auto op = MakeSessions();
  std::vector<std::vector<std::string>> history;
  op->Rows("a | 1 | 00:00:10 | 0\na | 2 | 00:00:40 | 0\nb | 4 | 00:00:12 | 0\nc | 8 | 00:00:50 | 0");
  history.push_back(op->Snapshot());
  op->Rows("a | 16 | 00:00:45 | 0\nb | 32 | 00:00:20 | 0");
  EXPECT_EQ(op->OnWatermark(20'000), "+I | a | 1 | 1 | 00:00:10.000 | 00:00:20.000\n");
  history.push_back(op->Snapshot());
  for (const auto& segments : {history, {op->Snapshot(StateTable::SnapshotKind::kFull)}}) {
    auto next = MakeSessions();
    next->RestoreFrom(segments, {20'000, 0});
    next->Rows("a | 64 | 00:00:50 | 20000");
    EXPECT_EQ(next->OnWatermark(30'000), "+I | b | 2 | 36 | 00:00:12.000 | 00:00:30.000\n");
    EXPECT_EQ(next->OnWatermark(Watermark::kEnd),
              "+I | c | 1 | 8 | 00:00:50.000 | 00:01:00.000\n"
              "+I | a | 3 | 82 | 00:00:40.000 | 00:01:00.000\n");
    EXPECT_EQ(next->StateRows(), 0);
  }
}

TEST(SessionAggregate, MemoryIsChargedAndGivenBack) {
  auto op = MakeSessions();
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += "k" + std::to_string(i) + " | 1 | 00:00:10 | 0\n";
  op->Rows(rows);
  EXPECT_GT(op->budget().used(), 1000 * 120);
  op->OnWatermark(Watermark::kEnd);
  EXPECT_LT(op->budget().used(), 1000 * 120);
  EXPECT_EQ(op->StateRows(), 0);
}

// A burst is handed on in steps.
TEST(SessionAggregate, FiringIsDoneInSteps) {
  auto op = MakeSessions();
  std::string rows;
  for (int i = 0; i < 5000; ++i) rows += "k" + std::to_string(i) + " | 1 | 00:00:10 | 0\n";
  op->Rows(rows);
  op->env().tick_micros = 4'000;
  const std::string fired = op->OnWatermark(Watermark::kEnd);
  EXPECT_EQ(std::count(fired.begin(), fired.end(), '\n'), 5000);
  EXPECT_GT(op->resumes(), 10);
}

// Any order of rows that are in time gives the sessions that the sorted rows have.
TEST(SessionAggregate, AnyOrderGivesTheSameSessions) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::map<std::string, std::vector<int>> times;
    std::vector<std::pair<std::string, int>> rows;
    for (int i = 0; i < 60; ++i) {
      rows.push_back(
          {std::string(1, static_cast<char>('a' + random() % 3)), static_cast<int>(random() % 400)});
      times[rows.back().first].push_back(rows.back().second);
    }
    std::map<std::tuple<int, std::string, int>, int> expected;  // end, key, start → rows
    for (auto& [key, at] : times) {
      std::sort(at.begin(), at.end());
      for (size_t i = 0; i < at.size();) {
        size_t j = i + 1;
        while (j < at.size() && at[j] <= at[j - 1] + 10) ++j;
        expected[{at[j - 1] + 10, key, at[i]}] = static_cast<int>(j - i);
        i = j;
      }
    }
    auto op = MakeSessions();
    for (size_t first = 0; first < rows.size(); first += 7) {
      std::string text;
      for (size_t i = first; i < std::min(first + 7, rows.size()); ++i) {
        text += fmt::format("{} | 1 | 00:{:02}:{:02} | 0\n", rows[i].first, rows[i].second / 60,
                            rows[i].second % 60);
      }
      ASSERT_EQ(op->Rows(text), "");
    }
    std::string fired = op->OnWatermark(Watermark::kEnd);
    std::vector<std::string> lines, wanted;
    for (size_t at = 0; at < fired.size(); at = fired.find('\n', at) + 1) {
      lines.push_back(fired.substr(at, fired.find('\n', at) - at));
    }
    for (const auto& [session, count] : expected) {
      const auto& [end, key, start] = session;
      wanted.push_back(fmt::format("+I | {} | {} | {} | 00:{:02}:{:02}.000 | 00:{:02}:{:02}.000", key, count,
                                   count, start / 60, start % 60, end / 60, end % 60));
    }
    std::sort(lines.begin(), lines.end());
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(lines, wanted) << "round " << round;
  }
}

}  // namespace
}  // namespace caudal
