#include "op/lookup/lookup.h"

#include <gtest/gtest.h>

#include <map>

#include "data/column_view.h"
#include "expr/scalar_function.h"
#include "op/testing/chunk_literal.h"
#include "op/testing/text_output.h"

namespace caudal {
namespace {

Expr CallOf(std::string_view name, std::vector<Expr> args) {
  Result<Expr> call = BindCall(*FindScalarFunction(name), std::move(args));
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  return *call;
}

// A table outside: people(id BIGINT, name STRING, age BIGINT), by id.
struct World {
  std::map<int64_t, std::vector<std::pair<std::string, int64_t>>> people;
  std::map<int64_t, std::string> unreadable;
  std::vector<Status> failures;       // of the next requests
  std::vector<std::string> requests;  // the ids of each
  std::vector<std::function<void()>> jobs;
  bool at_once = true;  // jobs run when they are submitted
};

class FakeReader : public LookupReader {
 public:
  explicit FakeReader(World* world) : world_(world) {}
  Result<LookupRows> Find(const Chunk& keys) override {
    const ColumnView<int64_t> ids(*keys.column(0));
    std::string asked;
    for (int32_t i = 0; i < keys.size(); ++i) asked += (i == 0 ? "" : " ") + std::to_string(ids[i]);
    world_->requests.push_back(asked);
    if (!world_->failures.empty()) {
      Status status = world_->failures.front();
      world_->failures.erase(world_->failures.begin());
      return status;
    }
    LookupRows rows;
    ColumnBuilder names(Type::String()), ages{Type(TypeId::kBigInt)};
    for (int32_t i = 0; i < keys.size(); ++i) {
      if (world_->unreadable.contains(ids[i])) rows.unreadable.push_back({i, world_->unreadable[ids[i]]});
      for (const auto& [name, age] : world_->people[ids[i]]) {
        names.AppendString(name);
        ages.Append(age);
        rows.key_of_row.push_back(i);
      }
    }
    rows.columns = {names.Finish(), ages.Finish()};
    return rows;
  }

 private:
  World* world_;
};

class LookupTest : public ::testing::Test {
 protected:
  static TableColumn Declared(std::string name, Type type) {
    TableColumn column;
    column.name = std::move(name);
    column.type = std::move(type);
    return column;
  }
  LookupNode Node(bool left, bool unique) {
    LookupNode node;
    node.table.name = "people";
    node.table.columns = {Declared("id", Type(TypeId::kBigInt, false)), Declared("name", Type::String()),
                          Declared("age", Type(TypeId::kBigInt))};
    node.table.options = options_;
    node.keys = {{0, Expr::Column(1, "person", Type(TypeId::kBigInt))}};
    node.columns = {1, 2};
    node.keeps_unmatched = left;
    node.unique = unique;
    return node;
  }
  void Make(LookupNode node) {
    const Schema output =
        SchemaLiteral("k STRING, person BIGINT, name STRING, age BIGINT, $clock BIGINT NOT NULL");
    op_ = std::make_unique<Lookup>(std::move(node), input_, output);
    OperatorContext context;
    context.env = &env_;
    context.budget = &budget_;
    context.fates = &fates_;
    context.make_lookup = [this](const Table&, const LookupRequest& request) {
      EXPECT_EQ(request.keys, std::vector<int>{0});
      EXPECT_EQ(request.schema.size(), 2);
      return Result<std::unique_ptr<LookupReader>>(std::make_unique<FakeReader>(&world_));
    };
    context.submit = [this](std::function<void()> job) {
      world_.at_once ? job() : world_.jobs.push_back(std::move(job));
    };
    const Status opened = op_->Open(context);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  // What leaves until the chunk is done.
  std::string Rows(std::string_view literal) {
    Result<Progress> progress = op_->OnChunk(0, ChunkLiteral(input_, literal), out_);
    return Finish(std::move(progress));
  }
  std::string Finish(Result<Progress> progress) {
    while (progress.ok() && *progress == Progress::kMore && op_->resume_at() <= env_.SteadyNanos()) {
      out_.chunks = 0;
      progress = op_->Resume(out_);
    }
    if (!progress.ok()) return progress.status().ToString();
    return std::exchange(out_.text, "") + (*progress == Progress::kMore ? "waits" : "");
  }
  int64_t Fated(Fate fate, std::string_view name) { return *fates_.Get(fate, name); }

  const Schema input_ = SchemaLiteral("k STRING, person BIGINT, $clock BIGINT NOT NULL");
  Options options_;
  World world_;
  ManualEnv env_{1'000'000'000};
  MemoryBudget budget_{"test", 0};
  FateCounters fates_;
  TextOutput out_;
  std::unique_ptr<Lookup> op_;
};

TEST_F(LookupTest, EachKeyIsAskedForOnceAndRowsKeepTheirOrder) {
  world_.people = {{1, {{"ann", 30}}}, {2, {{"bob", 40}}}};
  Make(Node(/*left=*/true, /*unique=*/true));
  EXPECT_EQ(Rows("a | 2 | 1\nb | 1 | 1\nc | NULL | 1\nd | 2 | 1\ne | 9 | 1"),
            "+I | a | 2 | bob | 40 | 1\n+I | b | 1 | ann | 30 | 1\n+I | c | NULL | NULL | NULL | 1\n"
            "+I | d | 2 | bob | 40 | 1\n+I | e | 9 | NULL | NULL | 1\n");
  EXPECT_EQ(world_.requests, std::vector<std::string>{"2 1 9"});
  EXPECT_EQ(Rows("f | NULL | 1"), "+I | f | NULL | NULL | NULL | 1\n");
  EXPECT_EQ(world_.requests.size(), 1u) << "nothing to ask for";
}

TEST_F(LookupTest, AnInnerJoinCountsWhatFindsNothing) {
  world_.people = {{1, {{"ann", 30}}}};
  Make(Node(false, true));
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1\nc | NULL | 1"), "+I | a | 1 | ann | 30 | 1\n");
  EXPECT_EQ(Fated(Fate::kFiltered, "lookup people"), 2);
  EXPECT_TRUE(op_->passes_rows());
}

TEST_F(LookupTest, SeveralRowsOfAKeyAreJoinedEachAndTheirRowIsAbsorbed) {
  for (int64_t i = 0; i < 5000; ++i) world_.people[1].push_back({"n" + std::to_string(i), i});
  world_.people[2] = {{"bob", 40}};
  Make(Node(false, false));
  out_.keep_text = false;
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1\nc | 3 | 1\nd | 1 | 1"), "");
  EXPECT_EQ(out_.rows, 10'001);
  EXPECT_EQ(Fated(Fate::kAbsorbed, "Lookup"), 3);
  EXPECT_EQ(Fated(Fate::kFiltered, "lookup people"), 1);
  EXPECT_FALSE(op_->passes_rows());
}

TEST_F(LookupTest, StopsBetweenChunksWhenTheOutputIsFull) {
  for (int64_t i = 0; i < 9000; ++i) world_.people[1].push_back({"n", i});
  Make(Node(false, false));
  out_.keep_text = false;
  out_.full_after = 1;
  Result<Progress> progress = op_->OnChunk(0, ChunkLiteral(input_, "a | 1 | 1"), out_);
  progress = op_->Resume(out_);
  EXPECT_EQ(*progress, Progress::kMore);
  EXPECT_EQ(out_.rows, Chunk::kMaxRows);
  EXPECT_GT(budget_.used(), 9000 * 10) << "what one key has is charged until it is joined";
  EXPECT_EQ(Finish(std::move(progress)), "");
  EXPECT_EQ(out_.rows, 9000);
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(LookupTest, AConditionIsTestedOnWhatIsFound) {
  world_.people = {{1, {{"ann", 30}, {"abe", 50}}}, {2, {{"bob", 40}}}};
  LookupNode node = Node(true, false);
  const Expr age = Expr::Column(3, "age", Type(TypeId::kBigInt));
  const Expr limit = Expr::Literal(Type(TypeId::kBigInt, false), Value(int64_t{45}));
  node.conditions = {{"age > 45", CallOf(">", {age, limit})}};
  Make(node);
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1"), "+I | a | 1 | abe | 50 | 1\n+I | b | 2 | NULL | NULL | 1\n");
  node.keeps_unmatched = false;
  Make(node);
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1"), "+I | a | 1 | abe | 50 | 1\n");
  EXPECT_EQ(Fated(Fate::kFiltered, "lookup people"), 1);
}

TEST_F(LookupTest, RowsThatCannotBeReadOrComparedAreDead) {
  world_.people = {{1, {{"ann", 0}}}, {2, {{"bob", 40}}}, {3, {{"", 0}}}};
  world_.unreadable = {{3, "key 'p:3': column 'age': 'old' is not a BIGINT"}};
  LookupNode node = Node(false, true);
  const Expr age = Expr::Column(3, "age", Type(TypeId::kBigInt));
  const Expr ten = Expr::Literal(Type(TypeId::kBigInt, false), Value(int64_t{10}));
  node.conditions = {{"10 / age < 10", CallOf("<", {CallOf("/", {ten, age}), ten})}};
  Make(node);
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1\nc | 3 | 1"),
            "dead{expression} +I | c | 3 | 1\ndead{expression} +I | a | 1 | 1\n+I | b | 2 | bob | 40 | 1\n");
  EXPECT_EQ(out_.messages, (std::vector<std::string>{
                               "lookup in table 'people': key 'p:3': column 'age': 'old' is not a BIGINT",
                               "condition 10 / age < 10: division by zero"}));
}

TEST_F(LookupTest, APrimaryKeyThatIsNoneStopsTheQuery) {
  world_.people = {{1, {{"ann", 30}, {"abe", 50}}}};
  Make(Node(false, true));
  EXPECT_NE(Rows("a | 1 | 1").find("its PRIMARY KEY promises one"), std::string::npos);
}

TEST_F(LookupTest, NothingGoesOnBeforeTheAnswer) {
  world_.people = {{1, {{"ann", 30}}}};
  world_.at_once = false;
  Make(Node(false, true));
  EXPECT_EQ(Rows("a | 1 | 1"), "waits");
  EXPECT_EQ(op_->resume_at(), INT64_MAX);
  world_.jobs[0]();
  EXPECT_EQ(Finish(Progress::kMore), "+I | a | 1 | ann | 30 | 1\n");
}

TEST_F(LookupTest, WhoDoesNotAnswerIsAskedAgainAfterAPause) {
  world_.people = {{1, {{"ann", 30}}}};
  world_.failures.assign(20, Status::External("nobody answers", Retry::kBackoff));
  Make(Node(false, true));
  EXPECT_EQ(Rows("a | 1 | 1"), "waits");
  EXPECT_EQ(op_->trouble().message(), "nobody answers");
  int64_t longest = 0;
  std::string text = "waits";
  for (int i = 0; i < 100 && text == "waits"; ++i) {
    const int64_t pause = op_->resume_at() - env_.SteadyNanos();
    ASSERT_GT(pause, 0);
    longest = std::max(longest, pause);
    env_.Advance(pause / 1000);
    text = Finish(Progress::kMore);
  }
  EXPECT_EQ(text, "+I | a | 1 | ann | 30 | 1\n");
  EXPECT_EQ(longest, 5'000'000'000);
  EXPECT_EQ(world_.requests.size(), 21u);
  EXPECT_TRUE(op_->trouble().ok());
}

TEST_F(LookupTest, WhatIsRefusedForGoodStopsTheQuery) {
  world_.failures = {Status::User("the server answers 'NOAUTH'")};
  Make(Node(false, true));
  EXPECT_EQ(Rows("a | 1 | 1"), "error[user]: the server answers 'NOAUTH'\n  at lookup in table 'people'");
}

TEST_F(LookupTest, ACacheAnswersUntilItsTimeIsOver) {
  options_ = {{"lookup.cache", "partial"}, {"lookup.partial-cache.expire-after-write", "10 s"}};
  world_.people = {{1, {{"ann", 30}}}};
  Make(Node(true, true));
  EXPECT_EQ(Rows("a | 1 | 1\nb | 2 | 1"), "+I | a | 1 | ann | 30 | 1\n+I | b | 2 | NULL | NULL | 1\n");
  world_.people = {{1, {{"amy", 31}}}, {2, {{"bob", 40}}}};
  EXPECT_EQ(Rows("c | 1 | 1\nd | 2 | 1"), "+I | c | 1 | ann | 30 | 1\n+I | d | 2 | NULL | NULL | 1\n");
  EXPECT_EQ(world_.requests.size(), 1u);
  EXPECT_GT(budget_.used(), 0);
  env_.Advance(10'000'000);
  EXPECT_EQ(Rows("e | 1 | 1\nf | 2 | 1"), "+I | e | 1 | amy | 31 | 1\n+I | f | 2 | bob | 40 | 1\n");
  op_.reset();
  EXPECT_EQ(budget_.used(), 0);
}

// KF-52: a key that was not there, and is later.
TEST_F(LookupTest, ACacheNeedNotRememberThatAKeyIsMissing) {
  options_ = {{"lookup.cache", "PARTIAL"}, {"lookup.partial-cache.cache-missing-key", "false"}};
  Make(Node(true, true));
  EXPECT_EQ(Rows("a | 5 | 1"), "+I | a | 5 | NULL | NULL | 1\n");
  world_.people = {{5, {{"eve", 20}}}};
  EXPECT_EQ(Rows("b | 5 | 1"), "+I | b | 5 | eve | 20 | 1\n");
  EXPECT_EQ(Rows("c | 5 | 1"), "+I | c | 5 | eve | 20 | 1\n");
  EXPECT_EQ(world_.requests.size(), 2u);
}

TEST_F(LookupTest, ACacheForgetsTheKeyThatWasUsedTheLongestAgo) {
  options_ = {{"lookup.cache", "PARTIAL"},
              {"lookup.partial-cache.max-rows", "2"},
              {"lookup.partial-cache.expire-after-access", "1 min"}};
  Make(Node(true, true));
  Rows("a | 1 | 1");
  Rows("a | 2 | 1");
  Rows("a | 1 | 1");  // used
  Rows("a | 3 | 1");  // 2 goes
  Rows("a | 1 | 1\nb | 3 | 1\nc | 2 | 1");
  EXPECT_EQ(world_.requests, (std::vector<std::string>{"1", "2", "3", "2"}));
  env_.Advance(60'000'000);
  Rows("a | 2 | 1");
  EXPECT_EQ(world_.requests.back(), "2") << "not used for a minute";
  EXPECT_EQ(world_.requests.size(), 5u);
}

}  // namespace
}  // namespace caudal
