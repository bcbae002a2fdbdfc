#include "sql/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sql/explain.h"
#include "sql/physical/settings.h"

namespace caudal::sql {
namespace {

// A connector that only describes itself: the planner asks for nothing more.
class FakeConnector : public Connector {
 public:
  explicit FakeConnector(std::string name, bool reads, bool writes)
      : name_(std::move(name)), reads_(reads), writes_(writes) {}
  std::string_view name() const override { return name_; }
  std::span<const OptionSpec> options() const override {
    static constexpr OptionSpec kOptions[] = {{"changes", OptionSpec::Type::kString, "", "row kinds"},
                                              {"password", OptionSpec::Type::kString, "", "a secret"},
                                              {"url", OptionSpec::Type::kString, "", "where it is"}};
    return kOptions;
  }
  std::vector<Field> metadata() const override {
    return {{"offset", Type(TypeId::kBigInt)}, {"timestamp", Type::TimestampLtz(3)}};
  }
  bool can_read() const override { return reads_; }
  bool can_write() const override { return writes_; }
  Result<ChangelogKinds> source_changelog(const Table& table) const override { return Kinds(table); }
  Result<ChangelogKinds> sink_changelog(const Table& table) const override { return Kinds(table); }

 private:
  static ChangelogKinds Kinds(const Table& table) {
    const std::string_view changes = table.option("changes");
    return changes == "all"      ? ChangelogKinds::All()
           : changes == "upsert" ? ChangelogKinds::Upsert()
                                 : ChangelogKinds::InsertOnly();
  }
  std::string name_;
  bool reads_, writes_;
};

constexpr std::string_view kTables =
    "CREATE TABLE t (id STRING NOT NULL, acct BIGINT, amount DECIMAL(18, 2), s STRING, ts TIMESTAMP(3), "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'fake');\n"
    "CREATE TABLE changes (k INT, v INT) WITH ('connector' = 'fake', 'changes' = 'all');\n"
    "CREATE TABLE log (a BIGINT, n BIGINT) WITH ('connector' = 'fake');\n"
    "CREATE TABLE totals (a BIGINT, n BIGINT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'fake', "
    "'changes' = 'upsert');\n"
    "CREATE TABLE everything (a BIGINT, n BIGINT) WITH ('connector' = 'fake', 'changes' = 'all');\n";

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { EXPECT_EQ(Run(kTables), "table 'everything' created"); }

  // The last outcome as text, or the error.
  std::string Run(std::string_view script) {
    Result<std::vector<Outcome>> outcomes = Session(&catalog_).Execute(script);
    if (!outcomes.ok()) return outcomes.status().ToString();
    const Outcome& last = outcomes->back();
    if (const auto* done = std::get_if<StatementDone>(&last)) return done->message;
    if (const auto* text = std::get_if<TextResult>(&last)) {
      std::string rows;
      for (const auto& row : text->rows) rows += fmt::format("{}\n", fmt::join(row, "|"));
      return rows;
    }
    if (const auto* select = std::get_if<SelectQuery>(&last)) return ExplainPlan(select->plan, false);
    return ExplainPlan(std::get<InsertQuery>(last).plan, false);
  }

  Plan PlanOf(std::string_view script) {
    Result<std::vector<Outcome>> outcomes = Session(&catalog_).Execute(script);
    EXPECT_TRUE(outcomes.ok()) << outcomes.status().ToString();
    if (!outcomes.ok()) return Plan();
    if (auto* select = std::get_if<SelectQuery>(&outcomes->back())) return select->plan;
    return std::get<InsertQuery>(outcomes->back()).plan;
  }

  std::string Changes(std::string_view statement) {
    return Run(
        fmt::format("SET 'execution.runtime-mode' = 'streaming'; EXPLAIN CHANGELOG_MODE {}", statement));
  }

  FakeConnector fake_{"fake", true, true};
  FakeConnector reader_{"reader", true, false};
  const Connector* connectors_[2] = {&fake_, &reader_};
  Catalog catalog_{connectors_};
};

TEST_F(SessionTest, MergesFiltersAndProjectionsAndPrunesColumns) {
  EXPECT_EQ(Run("SELECT a FROM (SELECT acct + 1 AS a, s FROM t WHERE s = 'x') WHERE a > 5"),
            "Calc(select=[a], where=[a > 5])\n"
            "+- Calc(select=[(acct + 1) AS a], where=[s = 'x'])\n"
            "   +- Scan(table=[t], fields=[id, acct, s])\n");
  EXPECT_EQ(Run("SELECT acct FROM (SELECT acct, s FROM t WHERE s = 'x') WHERE acct IS NOT NULL"),
            "Calc(select=[acct], where=[s = 'x' AND acct IS NOT NULL])\n"
            "+- Scan(table=[t], fields=[id, acct, s])\n");
}

TEST_F(SessionTest, NamesColumnsAsFlinkDoes) {
  const Plan plan = PlanOf("SELECT acct, acct, t.acct AS x, acct + 1, 'a' FROM t");
  std::string names;
  for (const Field& field : plan.nodes.back().schema.fields) names += field.name + " ";
  EXPECT_EQ(names, "acct acct0 x EXPR$3 EXPR$4 ");
}

// Windows that a table by key would show for no commit are not fired.
TEST_F(SessionTest, FiresTheNewestWindowAloneForATableOfIt) {
  auto fires_newest = [&](std::string_view insert, std::string_view columns, std::string_view more = "") {
    const std::string plan = Run(fmt::format(
        "EXPLAIN INSERT INTO {} SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY acct ORDER BY "
        "window_end DESC) AS rn FROM (SELECT acct, window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE t, "
        "DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) GROUP BY acct, window_start, "
        "window_end{})) "
        "WHERE rn = 1",
        insert, columns, more));
    EXPECT_THAT(plan, testing::HasSubstr("Aggregate(")) << plan;
    return plan.find("fire=[newest window of a key]") != std::string::npos;
  };
  EXPECT_TRUE(fires_newest("totals", "acct, n"));
  EXPECT_FALSE(fires_newest("everything", "acct, n"));                      // sees each change
  EXPECT_FALSE(fires_newest("totals", "acct, n", " HAVING COUNT(*) > 1"));  // an older one may pass
  EXPECT_FALSE(fires_newest("totals", "n, acct"));                          // by another key
}

TEST_F(SessionTest, PointsAtUnknownNames) {
  EXPECT_EQ(Run("SELECT acct,\n  acc FROM t"),
            "error[user]: unknown column 'acc'\n"
            "  at line 2, column 3\n"
            "        acc FROM t\n"
            "        ^^^\n"
            "  hint: did you mean 'acct'?");
  EXPECT_EQ(Run("SELECT * FROM tt"),
            "error[user]: unknown table 'tt'\n"
            "  at line 1, column 15\n"
            "      SELECT * FROM tt\n"
            "                    ^^\n"
            "  hint: did you mean 't'?");
  EXPECT_EQ(Run("SELECT UPER(s) FROM t"),
            "error[user]: unknown function 'UPER'\n"
            "  at line 1, column 8\n"
            "      SELECT UPER(s) FROM t\n"
            "             ^^^^\n"
            "  hint: did you mean UPPER?");
  EXPECT_EQ(Run("SELECT acct FROM t WHERE acct"),
            "error[user]: WHERE needs a BOOLEAN, not BIGINT\n"
            "  at line 1, column 26\n"
            "      SELECT acct FROM t WHERE acct\n"
            "                               ^^^^\n"
            "  hint: compare it with a value, as in a = 1");
  EXPECT_EQ(Run("SELECT s, COUNT(*) FROM t GROUP BY acct"),
            "error[user]: column 's' is neither in GROUP BY nor in an aggregate\n"
            "  at line 1, column 8\n"
            "      SELECT s, COUNT(*) FROM t GROUP BY acct\n"
            "             ^\n"
            "  hint: add it to GROUP BY, or take one of its values: MAX(s)");
}

TEST_F(SessionTest, GroupsByExpressions) {
  EXPECT_EQ(Run("SELECT acct + 1, COUNT(*) + 1 AS n, COUNT(*) FILTER (WHERE s = 'x') FROM t GROUP BY acct + "
                "1 HAVING COUNT(*) > 2"),
            "Calc(select=[key$0 AS EXPR$0, (COUNT(*) + 1) AS n, COUNT(*) FILTER (WHERE s = "
            "'x') AS EXPR$2], "
            "where=[COUNT(*) > 2])\n"
            "+- Aggregate(groupBy=[key$0], select=[key$0, COUNT(*), COUNT(*) FILTER (WHERE s = 'x')])\n"
            "   +- Calc(select=[(acct + 1) AS key$0, (s = 'x') AS filter$1])\n"
            "      +- Scan(table=[t], fields=[id, acct, s])\n");
}

TEST_F(SessionTest, InfersChangelogs) {
  EXPECT_EQ(Changes("INSERT INTO totals SELECT acct, COUNT(*) FROM t GROUP BY acct"),
            "Sink(table=[totals], fields=[a, n], key=[a], changelogMode=[NONE])\n"
            "+- Calc(select=[NOT NULL(acct, 'a') AS a, COUNT(*) AS n], changelogMode=[I,UA])\n"
            "   +- Aggregate(groupBy=[acct], select=[acct, COUNT(*)], changelogMode=[I,UA])\n"
            "      +- Calc(select=[acct], changelogMode=[I])\n"
            "         +- Scan(table=[t], fields=[id, acct], changelogMode=[I])\n\n");
  // A filter behind an update needs the old row.
  EXPECT_EQ(Changes("INSERT INTO totals SELECT acct, COUNT(*) FROM t GROUP BY acct HAVING COUNT(*) > 1"),
            "Sink(table=[totals], fields=[a, n], key=[a], changelogMode=[NONE])\n"
            "+- Calc(select=[NOT NULL(acct, 'a') AS a, COUNT(*) AS n], where=[COUNT(*) > 1], "
            "changelogMode=[I,UB,UA])\n"
            "   +- Aggregate(groupBy=[acct], select=[acct, COUNT(*)], changelogMode=[I,UB,UA])\n"
            "      +- Calc(select=[acct], changelogMode=[I])\n"
            "         +- Scan(table=[t], fields=[id, acct], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, FoldsByTheSinksKeyWhereItIsNoUpsertKey) {
  EXPECT_EQ(
      Changes("INSERT INTO totals SELECT n, acct FROM (SELECT acct, COUNT(*) AS n FROM t GROUP BY acct)"),
      "Sink(table=[totals], fields=[a, n], key=[a], changelogMode=[NONE])\n"
      "+- Materialize(key=[a], changelogMode=[I,UA,D])\n"
      "   +- Calc(select=[COUNT(*) AS a, acct AS n], changelogMode=[I,UB,UA])\n"
      "      +- Aggregate(groupBy=[acct], select=[acct, COUNT(*)], changelogMode=[I,UB,UA])\n"
      "         +- Calc(select=[acct], changelogMode=[I])\n"
      "            +- Scan(table=[t], fields=[id, acct], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, FoldsNothingBehindATopNThatKeepsTheKeyOfItsInput) {
  Run("CREATE TABLE best (a BIGINT, id STRING, n BIGINT, PRIMARY KEY (a, id) NOT ENFORCED) "
      "WITH ('connector' = 'fake', 'changes' = 'upsert')");
  auto folds = [this](std::string_view partition, std::string_view range) {
    const std::string plan = Run(fmt::format(
        "INSERT INTO best SELECT acct, id, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY n "
        "DESC) AS rn FROM (SELECT acct, id, COUNT(*) AS n FROM t GROUP BY acct, id)) WHERE rn {}",
        partition, range));
    return plan.find("Materialize") != std::string::npos;
  };
  EXPECT_FALSE(folds("acct", "<= 3"));
  EXPECT_FALSE(folds("acct", "= 1"));
  EXPECT_TRUE(folds("n", "<= 3")) << "two tasks may hold the rows of one key";
  EXPECT_TRUE(folds("acct", "BETWEEN 2 AND 3")) << "place by place";
}

TEST_F(SessionTest, RefusesUpdatesForASinkThatTakesNone) {
  EXPECT_EQ(Run("INSERT INTO log SELECT acct, COUNT(*) FROM t GROUP BY acct"),
            "error[user]: table 'log' takes [I] only, and Aggregate 'log/group-by' gives [I,UB,UA]\n"
            "  at line 1, column 13\n"
            "      INSERT INTO log SELECT acct, COUNT(*) FROM t GROUP BY acct\n"
            "                  ^\n"
            "  hint: a table with a PRIMARY KEY, whose connector takes updates, can take them");
}

TEST_F(SessionTest, TakesTheWindowIntoTheAggregate) {
  EXPECT_EQ(Changes("SELECT acct, window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL "
                    "'1' MINUTE, "
                    "INTERVAL '1' HOUR)) WHERE s = 'x' GROUP BY acct, window_start, window_end"),
            "Calc(select=[acct, window_end, COUNT(*) AS n], changelogMode=[I])\n"
            "+- Aggregate(groupBy=[acct], window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], "
            "select=[acct, COUNT(*), "
            "window_start, window_end], changelogMode=[I])\n"
            "   +- Calc(select=[acct, ts, $clock], where=[s = 'x'], changelogMode=[I])\n"
            "      +- Scan(table=[t], fields=[id, acct, s, ts, $clock], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, AggregatesAgainByTheSameWindow) {
  EXPECT_EQ(
      Changes("SELECT window_start, window_end, MAX(n) FROM (SELECT acct, window_start, window_end, "
              "COUNT(*) AS n FROM "
              "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) GROUP BY "
              "acct, window_start, "
              "window_end) GROUP BY window_start, window_end"),
      "Calc(select=[(window_end - INTERVAL '+0 01:00:00.000' DAY TO SECOND) AS window_start, window_end, "
      "MAX(n) AS EXPR$2], "
      "changelogMode=[I])\n"
      "+- Aggregate(groupBy=[], window=[TUMBLE(time_col=[time$], size=[1 min])], select=[MAX(n), "
      "window_end], changelogMode=[I])\n"
      "   +- Calc(select=[COUNT(*) AS n, (window_end - INTERVAL '+0 00:00:00.001' DAY TO SECOND) AS time$, "
      "$clock], changelogMode=[I])\n"
      "      +- Aggregate(groupBy=[acct], window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], "
      "select=[acct, COUNT(*), window_start, window_end, $clock], changelogMode=[I])\n"
      "         +- Calc(select=[acct, ts, $clock], changelogMode=[I])\n"
      "            +- Scan(table=[t], fields=[id, acct, ts, $clock], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, BoundsTheRowNumber) {
  EXPECT_EQ(Changes("SELECT id, acct FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS rn "
                    "FROM t) WHERE rn = 1"),
            "Calc(select=[id, acct], changelogMode=[I])\n"
            "+- TopN(rankRange=[1, 1], partitionBy=[id], orderBy=[ts ASC], keep=[FirstRow by row time], "
            "changelogMode=[I])\n"
            "   +- Scan(table=[t], fields=[id, acct, ts, $clock], changelogMode=[I])\n\n");
  EXPECT_THAT(Changes("SELECT id, acct FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY pt) AS rn "
                      "FROM (SELECT *, PROCTIME() AS pt FROM t)) WHERE rn = 1"),
              testing::HasSubstr("orderBy=[pt ASC], keep=[FirstRow by arrival], changelogMode=[I])"));
  EXPECT_EQ(Changes("SELECT id, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY acct DESC) AS "
                    "rn FROM t) WHERE rn "
                    "BETWEEN 2 AND 3"),
            "Calc(select=[id, row_number$ AS rn], changelogMode=[I,UB,UA,D])\n"
            "+- TopN(rankRange=[2, 3], partitionBy=[id], orderBy=[acct DESC], changelogMode=[I,UB,UA,D])\n"
            "   +- Scan(table=[t], fields=[id, acct], changelogMode=[I])\n\n");
  EXPECT_TRUE(Run("SELECT id, ROW_NUMBER() OVER (ORDER BY acct) FROM t")
                  .starts_with("error[user]: ROW_NUMBER() OVER without an upper bound is not built yet\n  at "
                               "line 1, column 12"));
}

TEST_F(SessionTest, DeduplicatesWithinTheRetention) {
  EXPECT_EQ(Changes("SELECT * FROM DEDUPLICATE(input => TABLE t PARTITION BY s, on_time => DESCRIPTOR(ts), "
                    "retain => INTERVAL '5' "
                    "MINUTE)"),
            "Calc(select=[s, id, acct, amount, ts, ts AS rowtime], changelogMode=[I])\n"
            "+- Deduplicate(partitionBy=[s], on_time=[ts], retain=[5 min], changelogMode=[I])\n"
            "   +- Calc(select=[s, id, acct, amount, ts, $clock], changelogMode=[I])\n"
            "      +- Scan(table=[t], fields=[id, acct, amount, s, ts, $clock], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, ComputesASharedViewOnce) {
  EXPECT_EQ(Run("CREATE VIEW v AS SELECT acct, COUNT(*) AS n FROM t GROUP BY acct;"
                "EXPLAIN STATEMENT SET BEGIN INSERT INTO totals SELECT acct, n FROM v; INSERT INTO "
                "everything SELECT acct, n FROM v; END"),
            "Sink(table=[totals], fields=[a, n], key=[a])\n"
            "+- Calc(select=[NOT NULL(acct, 'a') AS a, n])\n"
            "   +- Calc(select=[acct, COUNT(*) AS n])(reuse_id=[1])\n"
            "      +- Aggregate(groupBy=[acct], select=[acct, COUNT(*)])\n"
            "         +- Calc(select=[acct])\n"
            "            +- Scan(table=[t], fields=[id, acct])\n"
            "\n"
            "Sink(table=[everything], fields=[a, n])\n"
            "+- Calc(select=[acct AS a, n])\n"
            "   +- Reused(reference_id=[1])\n\n");
}

TEST_F(SessionTest, NamesOperatorsByViewAndClause) {
  const Plan plan = PlanOf(
      "CREATE VIEW v AS SELECT acct, COUNT(*) AS n FROM t GROUP BY acct; INSERT INTO totals SELECT n, "
      "COUNT(*) FROM v GROUP BY n");
  std::string ids;
  for (const PlanNode& node : plan.nodes) ids += node.id + "\n";
  EXPECT_EQ(
      ids,
      "t/scan/1\nv/calc/1\nv/group-by/1\ntotals/calc/1\ntotals/group-by/1\ntotals/calc/2\ntotals/sink/1\n");
}

TEST_F(SessionTest, PlacesExchangesAtHigherParallelism) {
  EXPECT_EQ(Run("SET 'parallelism.default' = '2'; SELECT acct, COUNT(*) AS n FROM t GROUP BY acct"),
            "Calc(select=[acct, COUNT(*) AS n])\n"
            "+- Aggregate(groupBy=[acct], select=[acct, COUNT(*)])\n"
            "   +- Exchange(distribution=[hash[acct]])\n"
            "      +- Calc(select=[acct])\n"
            "         +- Scan(table=[t], fields=[id, acct])\n");
}

TEST_F(SessionTest, ChecksTables) {
  EXPECT_EQ(Run("CREATE TABLE x (a INT) WITH ('connector' = 'fke')"),
            "error[user]: unknown connector 'fke'\n"
            "  at line 1, column 44\n"
            "      CREATE TABLE x (a INT) WITH ('connector' = 'fke')\n"
            "                                                 ^^^^^\n"
            "  hint: connectors are fake, reader");
  EXPECT_EQ(Run("CREATE TABLE x (a INT, a INT) WITH ('connector' = 'fake')"),
            "error[user]: column 'a' stands twice\n"
            "  at line 1, column 24\n"
            "      CREATE TABLE x (a INT, a INT) WITH ('connector' = 'fake')\n"
            "                             ^");
  EXPECT_EQ(
      Run("CREATE TABLE x (a INT, WATERMARK FOR a AS a) WITH ('connector' = 'fake')"),
      "error[user]: the time attribute 'a' must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p up to 3, not INT\n"
      "  at line 1, column 38\n"
      "      CREATE TABLE x (a INT, WATERMARK FOR a AS a) WITH ('connector' = 'fake')\n"
      "                                           ^");
  EXPECT_EQ(Run("CREATE TABLE x (a AS PROCTIME(), WATERMARK FOR a AS a) WITH ('connector' = 'fake')"),
            "error[user]: 'a' is processing time, which has no watermark\n"
            "  at line 1, column 48\n"
            "      CREATE TABLE x (a AS PROCTIME(), WATERMARK FOR a AS a) WITH ('connector' = 'fake')\n"
            "                                                     ^\n"
            "  hint: leave WATERMARK out, or name a column with the time of the event");
  EXPECT_EQ(Run("CREATE TABLE x (a BIGINT METADATA FROM 'part') WITH ('connector' = 'fake')"),
            "error[user]: connector 'fake' has no metadata 'part'\n"
            "  at line 1, column 17\n"
            "      CREATE TABLE x (a BIGINT METADATA FROM 'part') WITH ('connector' = 'fake')\n"
            "                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  hint: it has offset, timestamp");
  EXPECT_EQ(Run("INSERT INTO log SELECT s, 1 FROM t"),
            "error[user]: column 'a' of table 'log' is BIGINT, the query gives STRING\n"
            "  at line 1, column 24\n"
            "      INSERT INTO log SELECT s, 1 FROM t\n"
            "                             ^\n"
            "  hint: write CAST(… AS BIGINT)");
}

TEST_F(SessionTest, ChecksNotNullOnTheWayIn) {
  EXPECT_EQ(Run("CREATE TABLE strict (a BIGINT NOT NULL) WITH ('connector' = 'fake'); EXPLAIN INSERT INTO "
                "strict SELECT acct FROM t"),
            "Sink(table=[strict], fields=[a])\n"
            "+- Calc(select=[NOT NULL(acct, 'a') AS a])\n"
            "   +- Scan(table=[t], fields=[id, acct])\n\n");
  EXPECT_EQ(
      Run("SET 'table.exec.sink.not-null-enforcer' = 'DROP'; EXPLAIN INSERT INTO strict SELECT acct FROM t"),
      "Sink(table=[strict], fields=[a])\n"
      "+- Calc(select=[acct AS a], where=[acct IS NOT NULL])\n"
      "   +- Scan(table=[t], fields=[id, acct])\n\n");
}

TEST_F(SessionTest, GivesATopNOfWindowsOncePerWindow) {
  EXPECT_EQ(
      Changes("SELECT acct, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
              "window_end ORDER BY acct DESC) "
              "AS rn FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn <= 2"),
      "Calc(select=[acct, window_end], changelogMode=[I])\n"
      "+- TopN(rankRange=[1, 2], partitionBy=[window_start, window_end], orderBy=[acct DESC], emit=[end of "
      "window], changelogMode=[I])\n"
      "   +- Calc(select=[acct, window_start, window_end, $clock], changelogMode=[I])\n"
      "      +- Window(window=[TUMBLE(time_col=[ts], size=[10 s])], changelogMode=[I])\n"
      "         +- Scan(table=[t], fields=[id, acct, ts, $clock], changelogMode=[I])\n\n");
}

TEST_F(SessionTest, RefusesWindowsOnProcessingTimeByName) {
  EXPECT_THAT(Run("CREATE TABLE clocked (a INT, seen AS PROCTIME()) WITH ('connector' = 'fake'); "
                  "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE clocked, DESCRIPTOR(seen), INTERVAL '1' SECOND)) "
                  "GROUP BY window_start, window_end"),
              testing::HasSubstr("TUMBLE on processing time is not built yet"));
  EXPECT_THAT(
      Run("SELECT COUNT(*) FROM clocked GROUP BY HOP(seen, INTERVAL '1' SECOND, INTERVAL '2' SECOND)"),
      testing::HasSubstr("HOP on processing time is not built yet"));
}

TEST_F(SessionTest, RefusesEarlyResultsWithoutADelay) {
  const std::string query = "SELECT COUNT(*) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)";
  Run("SET 'execution.runtime-mode' = 'streaming'; SET 'table.exec.emit.early-fire.enabled' = 'TRUE'");
  EXPECT_THAT(Run(query), testing::HasSubstr("early results are enabled without a delay"));
  Run("SET 'table.exec.emit.early-fire.delay' = '0 s'");
  EXPECT_THAT(Run(query), testing::HasSubstr("an early result for every row"));
  Run("SET 'table.exec.emit.early-fire.delay' = '1 s'");
  EXPECT_THAT(Run(query), testing::Not(testing::HasSubstr("error")));
}

// What SHOW CREATE TABLE prints is what was written, and makes the same table again.
TEST_F(SessionTest, ShowsATableAsItWasWritten) {
  const std::string create =
      "CREATE TABLE `w` (\n"
      "  `a` TIMESTAMP(3),\n"
      "  `b` AS TIMESTAMPADD(DAY, 1, a),\n"
      "  `c` AS EXTRACT(DAY FROM a),\n"
      "  `d` AS CAST(NULL AS INT),\n"
      "  `e` AS 'x' LIKE 'y!%' ESCAPE '!',\n"
      "  WATERMARK FOR `a` AS a - INTERVAL '5' SECOND\n"
      ")\n"
      "WITH (\n"
      "  'changes' = 'I',\n"
      "  'connector' = 'fake'\n"
      ")\n";
  EXPECT_EQ(Run(create + "; SHOW CREATE TABLE w"), create + "\n");
  EXPECT_EQ(Run("DROP TABLE w; " + create), "table 'w' created");
}

TEST_F(SessionTest, ShowsNoPassword) {
  const auto shown = [&](const std::string& option) {
    const std::string text =
        Run("CREATE TABLE w (a INT) WITH ('connector' = 'fake', " + option + "); SHOW CREATE TABLE w");
    Run("DROP TABLE w");
    return text;
  };
  for (const char* secret : {"'password' = 'sesame'", "'url' = 'redis://u:sesame@host:1/2'",
                             "'url' = 'redis://:sesame@host'", "'url' = 'redis://u:se@same@host'"}) {
    EXPECT_THAT(shown(secret), testing::Not(testing::HasSubstr("same"))) << secret;
  }
  for (const char* plain : {"'password' = '${env:SESAME}'", "'url' = 'redis://u:${env:SESAME}@host'",
                            "'url' = 'redis://host:6379/0'", "'url' = 'redis://user@host'"}) {
    EXPECT_THAT(shown(plain), testing::HasSubstr(plain));
  }
}

TEST_F(SessionTest, ShowsTheCatalog) {
  EXPECT_EQ(Run("CREATE VIEW v AS SELECT ts, COUNT(*) AS n FROM t GROUP BY ts; SHOW TABLES LIKE 't%'"),
            "t\ntotals\n");
  EXPECT_EQ(Run("SHOW VIEWS"), "v\n");
  EXPECT_EQ(Run("DESCRIBE totals"),
            "a|BIGINT|FALSE|PRI(a)|<NULL>|<NULL>\nn|BIGINT|TRUE|<NULL>|<NULL>|<NULL>\n");
  EXPECT_EQ(Run("DESCRIBE v"),
            "ts|TIMESTAMP(3)|TRUE|<NULL>|<NULL>|<NULL>\nn|BIGINT|FALSE|<NULL>|<NULL>|<NULL>\n");
  EXPECT_EQ(Run("SHOW COLUMNS FROM totals LIKE 'n%'"), "n|BIGINT|TRUE|<NULL>|<NULL>|<NULL>\n");
  EXPECT_EQ(Run("SHOW COLUMNS FROM totals NOT LIKE 'n%'"), "a|BIGINT|FALSE|PRI(a)|<NULL>|<NULL>\n");
  EXPECT_EQ(Run("SHOW CREATE VIEW v"), "CREATE VIEW `v` AS SELECT ts, COUNT(*) AS n FROM t GROUP BY ts\n\n");
  EXPECT_EQ(Run("CREATE TABLE u (x INT) LIKE t (EXCLUDING WATERMARKS); DESCRIBE u").substr(0, 41),
            "id|STRING|FALSE|<NULL>|<NULL>|<NULL>\nacct");
}

TEST_F(SessionTest, NeedsATimeAttributeForWindows) {
  EXPECT_EQ(Run("SELECT COUNT(*) FROM t GROUP BY TUMBLE(acct, INTERVAL '1' MINUTE)"),
            "error[user]: TUMBLE needs a time attribute, and 'acct' is none\n"
            "  at line 1, column 40\n"
            "      SELECT COUNT(*) FROM t GROUP BY TUMBLE(acct, INTERVAL '1' MINUTE)\n"
            "                                             ^^^^\n"
            "  hint: the time attribute here is 'ts'");
}

TEST_F(SessionTest, SessionsAreOfTheRowsOfEachPartition) {
  const std::string from =
      " FROM TABLE(SESSION(TABLE t PARTITION BY acct, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) ";
  const std::string groups = "GROUP BY acct, window_start, window_end";
  EXPECT_THAT(Changes("SELECT acct, window_start, COUNT(*) AS n" + from + groups),
              ::testing::HasSubstr("Aggregate(groupBy=[acct], window=[SESSION(time_col=[ts], gap=[5 min])], "
                                   "select=[acct, COUNT(*), window_start, window_end], changelogMode=[I])"));
  EXPECT_THAT(Changes("SELECT COUNT(*) AS n FROM t GROUP BY SESSION(ts, INTERVAL '5' MINUTE)"),
              ::testing::HasSubstr("groupBy=[], window=[SESSION(time_col=[ts], gap=[5 min])]"));
  for (const auto& [query, error] : std::map<std::string, std::string>{
           {"SELECT *" + from, "reading the rows of SESSION without GROUP BY window_start, window_end"},
           {"SELECT COUNT(*)" + from, "reading the rows of SESSION without"},
           {"SELECT COUNT(*)" + from + "GROUP BY window_start", "reading the rows of SESSION without"},
           {"SELECT COUNT(*)" + from + "GROUP BY window_start, window_end",
            "takes the columns of SESSION's PARTITION BY, all and no others"},
           {"SELECT COUNT(*)" + from + groups + ", s",
            "takes the columns of SESSION's PARTITION BY, all and no others"},
           {"SELECT COUNT(*)" + from + "GROUP BY acct + 1, window_start, window_end", "all and no others"},
           {"SELECT COUNT(*)" + from + "WHERE amount > 1 " + groups, "WHERE over SESSION is not built yet"},
           {"SELECT COUNT(*) FROM t GROUP BY SESSION(ts)", "SESSION takes 2 arguments here"},
           {"SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '0' SECOND)",
            "the gap of a session must be positive"},
           {"SELECT COUNT(*) FROM t GROUP BY SESSION(ts, INTERVAL '1' MONTH)",
            "the gap of SESSION must not be in months"},
           {"SELECT SESSION_START(ts, INTERVAL '1' MINUTE) FROM t GROUP BY SESSION(ts, INTERVAL '2' MINUTE)",
            "SESSION_START needs GROUP BY SESSION(…) with the same arguments"},
           {"SELECT * FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts)))", "SESSION needs the argument GAP"}}) {
    EXPECT_THAT(Run(query), ::testing::HasSubstr(error)) << query;
  }
}

TEST_F(SessionTest, AQueryIsNamedByItsFirstSinkOrByPipelineName) {
  const std::string insert = "INSERT INTO named SELECT 1;";
  const std::string script =
      "CREATE TABLE named (n INT) WITH ('connector' = 'fake'); CREATE TABLE more (n INT) WITH ('connector' = "
      "'fake');" +
      insert + "SET 'pipeline.name' = 'again';" + insert +
      "RESET 'pipeline.name'; EXECUTE STATEMENT SET BEGIN " + insert + "INSERT INTO more SELECT 2; END;";
  const Result<std::vector<Outcome>> outcomes = Session(&catalog_).Execute(script);
  ASSERT_TRUE(outcomes.ok()) << outcomes.status().ToString();
  std::vector<std::string> names;
  for (const Outcome& outcome : *outcomes) {
    if (const auto* query = std::get_if<InsertQuery>(&outcome)) names.push_back(query->plan.query);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"named", "again", "named"}));
}

TEST_F(SessionTest, ChecksSettings) {
  EXPECT_EQ(Run("SET 'tabel.x' = '1'"),
            "error[user]: unknown setting 'tabel.x'\n"
            "  at line 1, column 5\n"
            "      SET 'tabel.x' = '1'\n"
            "          ^^^^^^^^^^^^^^^");
  EXPECT_EQ(Run("SET 'caudal.memory' = '1 GB'").substr(0, 44),
            "error[user]: unknown setting 'caudal.memory'");
  EXPECT_EQ(Run("SET 'table.exec.state.tll' = '1 h'"),
            "error[user]: unknown setting 'table.exec.state.tll'\n"
            "  at line 1, column 5\n"
            "      SET 'table.exec.state.tll' = '1 h'\n"
            "          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
            "  hint: did you mean 'table.exec.state.ttl'?");
  EXPECT_EQ(Run("SET 'table.exec.mini-batch.size' = '5'"),
            "setting 'table.exec.mini-batch.size' is '5', which has no effect here");
  EXPECT_EQ(Run("SET 'parallelism.default' = '4'"), "setting 'parallelism.default' is '4'");
  EXPECT_THAT(Run("SET 'execution.checkpointing.intervall' = '1 s'"),
              testing::HasSubstr("did you mean 'execution.checkpointing.interval'?"));
  EXPECT_THAT(Run("RESET 'nope'"), testing::HasSubstr("unknown setting 'nope'"));
  EXPECT_EQ(Run("SET 'execution.runtime-mode' = 'STREAMING'"),
            "setting 'execution.runtime-mode' is 'streaming'");
}

// The stack ran over, or the machine's memory; a long list took minutes.
TEST_F(SessionTest, BoundsWhatAQueryMayUnfold) {
  std::string chain = "WITH t0 AS (SELECT 1 AS a)";
  for (int i = 1; i < 3000; ++i) chain += fmt::format(", t{} AS (SELECT * FROM t{})", i, i - 1);
  EXPECT_THAT(Run(chain + " SELECT * FROM t2999"),
              testing::HasSubstr("views and WITH tables are nested more than 200 deep"));
  EXPECT_THAT(Run(chain + " SELECT * FROM t150"), testing::Not(testing::HasSubstr("error")));
  std::string doubled = "CREATE VIEW v0 AS SELECT 1 AS a;";
  for (int i = 1; i < 30; ++i)
    doubled += fmt::format("CREATE VIEW v{0} AS SELECT * FROM v{1} UNION ALL SELECT * FROM v{1};", i, i - 1);
  EXPECT_THAT(Run(doubled), testing::HasSubstr("reads views and WITH tables more than 10000 times"));
  std::string values = "SELECT COUNT(*) FROM (VALUES (0)";
  for (int i = 1; i < 65'535; ++i) values += fmt::format(", ({})", i);
  EXPECT_THAT(Run(values + ") AS v (a)"), testing::Not(testing::HasSubstr("error")));
  EXPECT_THAT(Run(values + ", (0)) AS v (a)"), testing::HasSubstr("VALUES has 65536 rows, more than 65535"));
}

TEST_F(SessionTest, AByteOrderMarkIsNoSql) {
  EXPECT_EQ(Run("\xEF\xBB\xBFSELECT 1 AS a"), Run("SELECT 1 AS a"));
  EXPECT_THAT(Run("\xEF\xBB\xBFSELEC 1"), testing::HasSubstr("line 1, column 1"));
}

// Each key takes its own default, and refuses what is of another kind.
TEST_F(SessionTest, TakesTheDefaultOfEachSettingAndNothingElse) {
  for (const Setting& setting : Settings()) {
    if (setting.key.ends_with('*') || setting.default_value.empty()) continue;
    EXPECT_TRUE(CheckSetting(setting.key, setting.default_value).ok()) << setting.key;
    if (setting.kind != Setting::Kind::kText) {
      EXPECT_FALSE(CheckSetting(setting.key, "abc").ok()) << setting.key;
    }
    if (setting.role == Setting::Role::kUnbuilt && setting.kind == Setting::Kind::kBoolean) {
      EXPECT_FALSE(CheckSetting(setting.key, setting.default_value == "true" ? "false" : "true").ok());
    }
  }
  EXPECT_FALSE(CheckSetting("caudal.max-rows-per-epoch", "-5").ok());
  EXPECT_FALSE(CheckSetting("parallelism.default", "0").ok());
  EXPECT_FALSE(CheckSetting("table.exec.sink.type-length-enforcer", "ERROR").ok());
  EXPECT_FALSE(CheckSetting("table.exec.sink.upsert-materialize", "none").ok());
}

TEST(SettingsTest, ThePageHasEachOfThem) {
  const std::filesystem::path root =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs" / "settings.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const Setting& setting : Settings())
    EXPECT_THAT(text.str(), testing::HasSubstr(fmt::format("`{}`", setting.key)));
}

}  // namespace
}  // namespace caudal::sql
