#include "op/aggregate.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "op/testing/operator_harness.h"
#include "op/testing/plain_aggregators.h"

namespace caudal {
namespace {

struct Query {
  bool retracting = false;
  bool update_before = true;
  AggregateNode::Emit emit = AggregateNode::Emit::kOnChange;
  std::vector<int> keys = {0};
  std::vector<PlainCall> calls = {{"count"}, {"sum", 1}};
};

std::unique_ptr<OperatorHarness> MakePlain(const Query& query, bool mini_batch = false) {
  const Schema input = SchemaLiteral("k STRING, v BIGINT, f BOOLEAN");
  AggregateNode node;
  node.keys = query.keys;
  node.retracting = query.retracting;
  node.update_before = query.update_before;
  node.emit = query.emit;
  std::string columns;
  for (size_t i = 0; i < query.keys.size(); ++i) columns += "k STRING, ";
  for (size_t i = 0; i < query.calls.size(); ++i) columns += (i == 0 ? "r BIGINT" : ", r BIGINT");
  auto [calls, aggregators] = PlainAggregators(query.calls);
  node.calls = calls;
  return std::make_unique<OperatorHarness>(
      std::make_unique<Aggregate>(node, input, SchemaLiteral(columns),
                                  std::make_unique<AccumulatorRow>(std::move(calls), std::move(aggregators))),
      input, EvaluatorOptions{}, mini_batch);
}

TEST(Aggregate, EachRowIsAnsweredInOrder) {
  auto op = MakePlain({});
  EXPECT_EQ(
      op->Rows("a | 1 | true\nb | 5 | true\na | 2 | true\na | 3 | true"),
      "+I | a | 1 | 1\n+I | b | 1 | 5\n-U | a | 1 | 1\n+U | a | 2 | 3\n-U | a | 2 | 3\n+U | a | 3 | 6\n");
  EXPECT_EQ(op->Rows("b | -5 | true"), "-U | b | 1 | 5\n+U | b | 2 | 0\n");
  EXPECT_EQ(*op->fates().Get(Fate::kAbsorbed, "Aggregate"), 5);
}

TEST(Aggregate, UnchangedResultIsNotRepeated) {
  Query query;
  query.calls = {{"sum", 1}};
  auto op = MakePlain(query);
  EXPECT_EQ(op->Rows("a | 1 | true\na | 0 | true\na | NULL | true"), "+I | a | 1\n");
}

TEST(Aggregate, DistinctHasNoResults) {
  Query query;
  query.calls = {};
  const Schema input = SchemaLiteral("k STRING, v BIGINT, f BOOLEAN");
  AggregateNode node;
  node.keys = {0, 2};
  auto [calls, aggregators] = PlainAggregators({});
  OperatorHarness op(
      std::make_unique<Aggregate>(node, input, SchemaLiteral("k STRING, f BOOLEAN"),
                                  std::make_unique<AccumulatorRow>(std::move(calls), std::move(aggregators))),
      input);
  EXPECT_EQ(op.Rows("a | 1 | true\na | 2 | true\na | 3 | NULL\nNULL | 1 | true\na | 9 | NULL"),
            "+I | a | true\n+I | a | NULL\n+I | NULL | true\n");
}

TEST(Aggregate, LastRowTakenAwayDeletesTheGroup) {
  Query query;
  query.retracting = true;
  auto op = MakePlain(query);
  EXPECT_EQ(
      op->Rows(
          "-D | x | 1 | true\n+I | a | 1 | true\n+I | a | 2 | true\n-U | a | 1 | true\n-D | a | 2 | true\n"
          "+I | a | 7 | true"),
      "+I | a | 1 | 1\n-U | a | 1 | 1\n+U | a | 2 | 3\n-U | a | 2 | 3\n+U | a | 1 | 2\n-D | a | 1 | 2\n"
      "+I | a | 1 | 7\n");
  EXPECT_EQ(op->StateRows(), 1);
  EXPECT_EQ(op->Rows("-D | a | 7 | true"), "-D | a | 1 | 7\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(Aggregate, FilterClauseAndMissingUpdateBefore) {
  Query query;
  query.update_before = false;
  query.calls = {{"count"}, {"sum", 1, 2}};
  auto op = MakePlain(query);
  EXPECT_EQ(op->Rows("a | 1 | false\na | 2 | true\na | 4 | NULL"),
            "+I | a | 1 | NULL\n+U | a | 2 | 2\n+U | a | 3 | 2\n");
}

TEST(Aggregate, MiniBatchEmitsTheDifferenceAtTheFlush) {
  Query query;
  query.retracting = true;
  auto op = MakePlain(query, /*mini_batch=*/true);
  EXPECT_EQ(op->Rows("+I | a | 1 | true\n+I | b | 1 | true\n+I | a | 2 | true"), "");
  EXPECT_EQ(op->Rows("-D | b | 1 | true"), "");
  EXPECT_EQ(op->Flush(), "+I | a | 2 | 3\n");
  EXPECT_EQ(op->StateRows(), 1);
  EXPECT_EQ(op->Rows("-U | a | 1 | true\n+U | a | 5 | true"), "");
  EXPECT_EQ(op->Flush(), "-U | a | 2 | 3\n+U | a | 2 | 7\n");
  op->Rows("-D | a | 2 | true\n-D | a | 5 | true");
  EXPECT_EQ(op->Flush(), "-D | a | 2 | 7\n");
  EXPECT_EQ(op->Flush(), "");
}

TEST(Aggregate, BatchEmitsEachGroupOnceAtTheEnd) {
  Query query;
  query.emit = AggregateNode::Emit::kOnEnd;
  auto op = MakePlain(query);
  EXPECT_EQ(op->Rows("a | 1 | true\na | 2 | true"), "");
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | a | 2 | 3\n");

  query.keys = {};
  op = MakePlain(query);
  EXPECT_EQ(op->OnWatermark(Watermark::kEnd), "+I | 0 | NULL\n");
}

// Random changelogs, chunk sizes, snapshots and restores: the emitted sequence of each key equals
// row-at-a-time execution.
TEST(Aggregate, RandomRunsAgreeWithRowAtATime) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    Query query;
    query.retracting = true;
    auto op = MakePlain(query);
    std::map<std::string, std::vector<int64_t>> model;
    std::vector<std::vector<std::string>> history;
    for (int step = 0; step < 40; ++step) {
      std::string rows, expected;
      for (size_t i = 0; i < random() % 20; ++i) {
        const std::string key = "k" + std::to_string(random() % 4);
        std::vector<int64_t>& values = model[key];
        auto result = [&] {
          int64_t sum = 0;
          for (int64_t value : values) sum += value;
          return fmt::format(" | {} | {} | {}\n", key, values.size(), sum);
        };
        const std::string before = values.empty() ? "" : result();
        if (!values.empty() && random() % 2 == 0) {
          rows += fmt::format("-D | {} | {} | true\n", key, values.back());
          values.pop_back();
          if (values.empty()) {
            expected += "-D" + before;
            continue;
          }
        } else {
          values.push_back(static_cast<int64_t>(random() % 100));
          rows += fmt::format("+I | {} | {} | true\n", key, values.back());
        }
        expected += before.empty() ? "+I" + result() : "-U" + before + "+U" + result();
      }
      ASSERT_EQ(op->Rows(rows), expected) << "seed " << seed;
      if (random() % 3 == 0) {
        const bool full = random() % 4 == 0;
        if (full) history.clear();
        history.push_back(
            op->Snapshot(full ? StateTable::SnapshotKind::kFull : StateTable::SnapshotKind::kDelta));
        if (random() % 2 == 0) {
          op = MakePlain(query);
          op->RestoreFrom(history, {});
        }
      }
    }
  }
}

}  // namespace
}  // namespace caudal
