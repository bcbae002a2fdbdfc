// Jobs with a lookup in a table outside that may be away: they wait, tell so, go on, and can be stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/column_view.h"
#include "run/testing/job_fixture.h"

namespace caudal {
namespace {

// A table squares(k BIGINT, square BIGINT) that has a row for every key but 3, when it is not away.
class Squares : public Connector {
 public:
  class Reader : public LookupReader {
   public:
    explicit Reader(const bool* away) : away_(away) {}
    Result<LookupRows> Find(const Chunk& keys) override {
      if (*away_) return Status::External("nobody answers", Retry::kBackoff);
      LookupRows rows;
      ColumnBuilder squares{Type(TypeId::kBigInt)};
      const ColumnView<int64_t> of(*keys.column(0));
      for (int32_t i = 0; i < keys.size(); ++i) {
        if (of[i] == 3) continue;
        squares.Append(of[i] * of[i]);
        rows.key_of_row.push_back(i);
      }
      rows.columns = {squares.Finish()};
      return rows;
    }

   private:
    const bool* away_;
  };
  std::string_view name() const override { return "squares"; }
  std::span<const OptionSpec> options() const override { return {}; }
  bool can_look_up() const override { return true; }
  Result<std::unique_ptr<LookupReader>> MakeLookup(const Table&, const LookupRequest&,
                                                   const ConnectorContext&) const override {
    return std::unique_ptr<LookupReader>(std::make_unique<Reader>(&away));
  }
  bool away = false;
};

class LookupJobTest : public JobFixture {
 protected:
  LookupJobTest() { connectors_.push_back(&squares_); }

  // clicks(k, ts) joined with squares, into out(k, square).
  static Plan SquaresPlan(bool unique) {
    Plan plan = ClicksPlan(1);
    LookupNode lookup;
    lookup.table.name = "squares";
    lookup.table.columns = {DeclaredColumn("k", Type(TypeId::kBigInt, false)),
                            DeclaredColumn("square", Type(TypeId::kBigInt))};
    lookup.table.options = {{"connector", "squares"}};
    lookup.keys = {{0, Expr::Column(0, "k", Type(TypeId::kBigInt, false))}};
    lookup.columns = {1};
    lookup.unique = unique;
    plan.nodes[1].id = "out/lookup/1";
    plan.nodes[1].schema.fields.insert(plan.nodes[1].schema.fields.begin() + 2,
                                       {"square", Type(TypeId::kBigInt)});
    plan.nodes[1].payload = lookup;
    SinkNode sink = *plan.nodes[2].as<SinkNode>();
    sink.table.columns.push_back(DeclaredColumn("square", Type(TypeId::kBigInt)));
    plan.nodes[2].payload = sink;
    return plan;
  }
  std::unique_ptr<Job> Start(bool unique = true) { return JobFixture::Start(SquaresPlan(unique)); }
  void Feed(int64_t key) { JobFixture::Feed(key, key * 1000); }
  void Checkpoint(Job& job) { JobFixture::Checkpoint(job, 500); }
  std::vector<int64_t> Results() {
    std::vector<int64_t> squares;
    for (const Change& change : collected_.Get("out")->Committed()) {
      squares.push_back(std::get<int64_t>(change.values[2].data));
    }
    return squares;
  }

  Squares squares_;
};

TEST_F(LookupJobTest, CountsAddUpWithOneRowAKey) {
  auto job = Start(/*unique=*/true);
  for (const int64_t key : {1, 2, 3, 4}) Feed(key);
  Checkpoint(*job);
  EXPECT_EQ(job->progress().checkpoints.last.number, 1) << job->progress().trouble().ToString();
  EXPECT_EQ(Results(), (std::vector<int64_t>{1, 4, 16}));
}

TEST_F(LookupJobTest, CountsAddUpWithSeveralRowsAKey) {
  auto job = Start(/*unique=*/false);
  for (const int64_t key : {1, 2, 3, 4}) Feed(key);
  Checkpoint(*job);
  EXPECT_EQ(job->progress().checkpoints.last.number, 1) << job->progress().trouble().ToString();
  EXPECT_EQ(Results(), (std::vector<int64_t>{1, 4, 16}));
}

TEST_F(LookupJobTest, WaitsTellsSoAndGoesOnByItself) {
  auto job = Start();
  Feed(1);
  Checkpoint(*job);
  squares_.away = true;
  Feed(2);
  Feed(3);
  Checkpoint(*job);
  Feed(4);
  Run(*job, 20'000);
  EXPECT_FALSE(job->finished());
  EXPECT_EQ(job->progress().trouble().message(), "nobody answers");
  EXPECT_EQ(Results(), (std::vector<int64_t>{1}));
  squares_.away = false;
  Run(*job, 6'000);
  EXPECT_TRUE(job->progress().trouble().ok()) << job->progress().trouble().ToString();
  Checkpoint(*job);
  EXPECT_EQ(Results(), (std::vector<int64_t>{1, 4, 16}));
}

TEST_F(LookupJobTest, AStopDoesNotWaitForEver) {
  auto job = Start();
  Feed(1);
  Checkpoint(*job);
  squares_.away = true;
  Feed(2);
  Run(*job);
  job->Stop(Job::StopKind::kSavepoint);
  Run(*job, 20'000);
  EXPECT_FALSE(job->finished());
  Run(*job, 20'000);
  ASSERT_TRUE(job->finished());
  EXPECT_EQ(job->status().message(), "nobody answers");
  job.reset();
  squares_.away = false;
  job = Start();
  Checkpoint(*job);
  EXPECT_EQ(Results(), (std::vector<int64_t>{1, 4}));
}

TEST_F(LookupJobTest, ACrashWithAnAnswerOnItsWayLosesNothing) {
  for (int crash = 0; crash < 20; ++crash) {
    auto job = Start();
    Feed(4 + crash);
    job->Poll();
    executor_.RunUntilIdle(crash);
  }
  auto job = Start();
  Checkpoint(*job);
  EXPECT_EQ(Results().size(), 20u);
}

}  // namespace
}  // namespace caudal
