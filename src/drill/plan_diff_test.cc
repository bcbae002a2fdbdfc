// What a change of the SQL text means for the state of before: from text to PlanDiff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "connect/collect/collect_connector.h"
#include "connect/feed/feed_connector.h"
#include "op/make_operator.h"
#include "run/restore/plan_fingerprint.h"
#include "sql/session.h"

namespace caudal {
namespace {

class PlanDiffTest : public ::testing::Test {
 protected:
  struct Text {
    std::string bucket = "id % 10";
    std::string delay = "5";
    std::string chosen = "id >= 0 AND v > 1";
    std::string query = "SELECT bucket, COUNT(*) FROM chosen GROUP BY bucket";
  };

  std::vector<NodeState> StatesOf(const Text& text) {
    FeedRegistry feeds;
    CollectRegistry collected;
    const FeedConnector feed(&feeds);
    const CollectConnector collect(&collected);
    const Connector* connectors[] = {&feed, &collect};
    Catalog catalog(connectors);
    sql::Session session(&catalog);
    Result<std::vector<sql::Outcome>> outcomes = session.Execute(fmt::format(
        "CREATE TABLE e (id INT, v INT, bucket AS {}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL "
        "'{}' SECOND) "
        "WITH ('connector' = 'feed');"
        "CREATE TABLE f (id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'feed');"
        "CREATE VIEW chosen AS SELECT * FROM (SELECT id, v, bucket + 0 AS bucket, ts FROM e) WHERE {};"
        "SET 'execution.runtime-mode' = 'streaming'; {}",
        text.bucket, text.delay, text.chosen, text.query));
    EXPECT_TRUE(outcomes.ok()) << outcomes.status().ToString();
    if (!outcomes.ok()) return {};
    const Plan& plan = std::get<sql::SelectQuery>(outcomes->back()).plan;
    Result<std::vector<NodeState>> states = Fingerprints(plan, MakeOperator, {}, Env::Real());
    EXPECT_TRUE(states.ok()) << states.status().ToString();
    return states.ok() ? *states : std::vector<NodeState>();
  }

  // "Aggregate changed, Scan stateless": what is not identical, by label.
  std::string Diff(const std::vector<NodeState>& was, const Text& is) {
    Manifest manifest;
    manifest.nodes = was;
    std::string text;
    const std::vector<NodeState> states = StatesOf(is);
    for (const PlanDiff::Entry& entry : Compare(manifest, states).entries) {
      if (entry.change == PlanDiff::Change::kIdentical) continue;
      const std::string label = entry.is.substr(0, entry.is.find(' '));
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label,
                          entry.change == PlanDiff::Change::kChanged     ? "changed"
                          : entry.change == PlanDiff::Change::kStateless ? "stateless"
                                                                         : "other");
    }
    return text;
  }
  std::string Diff(const Text& was, const Text& is) { return Diff(StatesOf(was), is); }
};

TEST_F(PlanDiffTest, KeysAndConditionsAreKnownDownToTheTable) {
  const Text old;
  EXPECT_EQ(Diff(old, old), "");
  Text text = old;
  text.bucket = "id % 7";
  EXPECT_EQ(Diff(old, text), "Aggregate changed");
  text = old;
  text.chosen = "id >= 50 AND v > 1";
  EXPECT_EQ(Diff(old, text), "Aggregate changed");
  text.chosen = "v > 1 AND id >= 0";
  EXPECT_EQ(Diff(old, text), "") << "the order of conditions means nothing";
}

TEST_F(PlanDiffTest, TheWatermarkCountsWhereTimeDecides) {
  const Text old;
  Text text = old;
  text.delay = "6";
  EXPECT_EQ(Diff(old, text), "Scan stateless");
  Text windows = old;
  windows.query =
      "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP "
      "BY "
      "window_start, window_end";
  text.query = windows.query;
  EXPECT_EQ(Diff(windows, text), "Scan stateless, Aggregate changed");
}

TEST_F(PlanDiffTest, RowsThatAreKeptAreKnownWhole) {
  Text old;
  old.query =
      "SELECT id, bucket FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY v) AS rn FROM e) WHERE "
      "rn = 1";
  Text text = old;
  text.bucket = "id % 7";
  EXPECT_EQ(Diff(old, text), "TopN changed");
}

// Checkpoints of before say less: what they do not say is not held against them.
TEST_F(PlanDiffTest, TheFirstFormatIsComparedByWhatItHas) {
  std::vector<NodeState> was = StatesOf({});
  for (NodeState& state : was)
    state.fingerprint = state.fingerprint.substr(0, state.fingerprint.find("; made from "));
  Text text;
  text.bucket = "id % 7";
  EXPECT_EQ(Diff(was, text), "");
  text.query = "SELECT bucket, SUM(v) FROM chosen GROUP BY bucket";
  EXPECT_EQ(Diff(was, text), "Aggregate changed");
}

// Ids are ordinals: branches that change places must not get each other's state.
TEST_F(PlanDiffTest, TablesWithTheSameColumnsAreToldApart) {
  const std::string window =
      "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP "
      "BY window_start, window_end";
  Text old, text;
  old.query = fmt::format(fmt::runtime(window + " UNION ALL " + window), "e", "f");
  text.query = fmt::format(fmt::runtime(window + " UNION ALL " + window), "f", "e");
  EXPECT_EQ(Diff(old, old), "");
  EXPECT_EQ(Diff(old, text), "Aggregate changed, Aggregate changed");  // scans have their tables' names
  old.query =
      "SELECT id % 2, COUNT(*) FROM (SELECT id FROM e WHERE v > 1 UNION ALL SELECT id FROM f WHERE v > 2) "
      "GROUP BY id % 2";
  text.query =
      "SELECT id % 2, COUNT(*) FROM (SELECT id FROM e WHERE v > 2 UNION ALL SELECT id FROM f WHERE v > 1) "
      "GROUP BY id % 2";
  EXPECT_EQ(Diff(old, text), "Aggregate changed");
}

TEST_F(PlanDiffTest, TheSecondFormatNamesNoTables) {
  std::vector<NodeState> was = StatesOf({});
  for (NodeState& state : was) state.fingerprint = state.former_fingerprint;
  EXPECT_EQ(Diff(was, Text{}), "");
  Text text;
  text.bucket = "id % 7";
  EXPECT_EQ(Diff(was, text), "Aggregate changed");
}

}  // namespace
}  // namespace caudal
