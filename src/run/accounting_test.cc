// A test of the accounting itself: each operator, source and sink once with one count, or one row, taken
// away; the query must stop before that epoch is committed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "connect/collect/collect_connector.h"
#include "connect/feed/feed_connector.h"
#include "expr/aggregate_function.h"
#include "fs/memory_file_system.h"
#include "op/make_operator.h"
#include "run/job.h"
#include "run/schedule/seeded_executor.h"
#include "run/testing/clicks_plan.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What is taken away, once in the life of an operator.
struct Theft {
  std::string counter;    // "fate/name": an increment of this one
  bool emitted = false;   // a chunk that leaves by Emit
  bool rejected = false;  // a chunk that leaves by Reject
};

std::string CounterName(const FateCounters::Entry& entry) {
  return std::string(FateName(entry.fate)) + "/" + entry.name;
}

// An operator that forgets to count, or loses rows, and says what there was to lose.
class Forgetful : public Operator, private Output {
 public:
  Forgetful(std::unique_ptr<Operator> inner, Theft theft, std::set<std::string>* seen)
      : inner_(std::move(inner)), theft_(std::move(theft)), seen_(seen) {}

  Status Open(const OperatorContext& context) override {
    OperatorContext own = context;
    own.fates = &own_;
    real_ = context.fates;
    return inner_->Open(own);
  }
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override {
    return Through(out, [&] { return inner_->OnChunk(port, chunk, *this); });
  }
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override {
    return Through(out, [&] { return inner_->OnWatermark(watermark, *this); });
  }
  Result<Progress> Resume(Output& out) override {
    return Through(out, [&] { return inner_->Resume(*this); });
  }
  Result<Progress> OnFlush(FlushBefore next, Output& out) override {
    return Through(out, [&] { return inner_->OnFlush(next, *this); });
  }
  std::vector<StateTable*> state() override { return inner_->state(); }
  bool passes_rows() const override { return inner_->passes_rows(); }

 private:
  template <typename Call>
  Result<Progress> Through(Output& out, Call call) {
    out_ = &out;
    Result<Progress> progress = call();
    for (const FateCounters::Entry& entry : own_.entries()) {
      int64_t& copied = copied_[CounterName(entry)];
      if (entry.rows == copied) continue;
      if (CounterName(entry) == theft_.counter && !stolen_) {
        stolen_ = true;
      } else {
        *real_->Get(entry.fate, entry.name) += entry.rows - copied;
      }
      copied = entry.rows;
      seen_->insert(CounterName(entry));
    }
    return progress;
  }
  void Emit(Chunk chunk) override {
    if (chunk.empty()) return;
    if (passes_rows()) seen_->insert("emit");
    if (theft_.emitted && !std::exchange(stolen_, true)) return;
    out_->Emit(std::move(chunk));
  }
  void Reject(const Chunk& chunk, Rejection rejection) override {
    if (chunk.empty()) return;
    seen_->insert("reject");
    if (theft_.rejected && !std::exchange(stolen_, true)) return;
    out_->Reject(chunk, std::move(rejection));
  }
  bool full() const override { return out_->full(); }

  std::unique_ptr<Operator> inner_;
  Theft theft_;
  std::set<std::string>* seen_;
  Output* out_ = nullptr;
  FateCounters own_;
  FateCounters* real_ = nullptr;
  std::map<std::string, int64_t> copied_;
  bool stolen_ = false;
};

// A source whose reader loses the last row of its first chunk.
class LosingReader : public SplitReader {
 public:
  explicit LosingReader(std::unique_ptr<SplitReader> inner) : inner_(std::move(inner)) {}
  Result<Poll> Next() override {
    Result<Poll> poll = inner_->Next();
    SourceRows* rows = poll.ok() ? std::get_if<SourceRows>(&*poll) : nullptr;
    if (rows == nullptr || std::exchange(lost_, true)) return poll;
    auto kept = std::make_unique<Selection>();
    for (int32_t i = 0; i + 1 < rows->chunk.size(); ++i) kept->rows.push_back(static_cast<uint16_t>(i));
    rows->chunk = rows->chunk.WithSelection(SelectionPtr(std::move(kept)));
    return poll;
  }
  Position position() const override { return inner_->position(); }
  int64_t records_passed() const override { return inner_->records_passed(); }

 private:
  std::unique_ptr<SplitReader> inner_;
  bool lost_ = false;
};

class LosingSource : public Source {
 public:
  explicit LosingSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {}
  bool bounded() const override { return inner_->bounded(); }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return inner_->MakeEnumerator(); }
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SplitReader> reader, inner_->Open(split, position));
    return std::unique_ptr<SplitReader>(std::make_unique<LosingReader>(std::move(reader)));
  }

 private:
  std::unique_ptr<Source> inner_;
};

class LosingFeed : public FeedConnector {
 public:
  using FeedConnector::FeedConnector;
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Source> source, FeedConnector::MakeSource(table, request, context));
    return std::unique_ptr<Source>(std::make_unique<LosingSource>(std::move(source)));
  }
};

// A sink whose recount finds a row less than it was given.
class MiscountedEpoch : public SealedEpoch {
 public:
  explicit MiscountedEpoch(std::unique_ptr<SealedEpoch> inner) : inner_(std::move(inner)) {}
  Result<Committable> Prepare() override {
    ASSIGN_OR_RETURN(Committable committable, inner_->Prepare());
    committable.rows_added -= committable.rows_added > 0;
    return committable;
  }

 private:
  std::unique_ptr<SealedEpoch> inner_;
};

class MiscountingWriter : public SinkWriter {
 public:
  explicit MiscountingWriter(std::unique_ptr<SinkWriter> inner) : inner_(std::move(inner)) {}
  Status Write(const Chunk& chunk, SinkRejects& rejects) override { return inner_->Write(chunk, rejects); }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SealedEpoch> sealed, inner_->Seal(epoch));
    return std::unique_ptr<SealedEpoch>(std::make_unique<MiscountedEpoch>(std::move(sealed)));
  }
  int64_t buffered_bytes() const override { return inner_->buffered_bytes(); }

 private:
  std::unique_ptr<SinkWriter> inner_;
};

class MiscountingSink : public Sink {
 public:
  explicit MiscountingSink(std::unique_ptr<Sink> inner) : inner_(std::move(inner)) {}
  ChangelogKinds accepts() const override { return inner_->accepts(); }
  std::string_view guarantee() const override { return inner_->guarantee(); }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SinkWriter> writer, inner_->MakeWriter(task));
    return std::unique_ptr<SinkWriter>(std::make_unique<MiscountingWriter>(std::move(writer)));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override { return inner_->MakeCommitter(); }

 private:
  std::unique_ptr<Sink> inner_;
};

class MiscountingCollect : public CollectConnector {
 public:
  using CollectConnector::CollectConnector;
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, CollectConnector::MakeSink(table, context));
    return std::unique_ptr<Sink>(std::make_unique<MiscountingSink>(std::move(sink)));
  }
};

// clicks → the operator → out.
Plan PlanWith(PlanPayload payload, Schema schema) {
  Plan plan = ClicksPlan(1);
  plan.nodes[1].id = "op";
  plan.nodes[1].payload = std::move(payload);
  if (schema.size() > 0) plan.nodes[1].schema = std::move(schema);
  Table& out = std::get<SinkNode>(plan.nodes[2].payload).table;
  out.columns.clear();
  for (const Field& field : plan.nodes[1].schema.fields) {
    if (!field.name.starts_with('$')) out.columns.push_back(DeclaredColumn(field.name, field.type));
  }
  return plan;
}

struct Case {
  std::string name;
  Plan plan;
};

std::vector<Case> Cases() {
  const Type number(TypeId::kBigInt, false), time = Type::Timestamp(3);
  const Schema counted{{{"k", number}, {"n", number}}};
  std::vector<Case> cases;
  CalcNode calc;
  calc.filters = {{"false", Expr::Literal(Type(TypeId::kBoolean, false), Value(false))}};
  cases.push_back({"Calc", PlanWith(calc, {})});
  CalcNode projection;
  for (int i = 0; i < 3; ++i) {
    const Field field = cases[0].plan.nodes[0].schema[i];
    projection.projections.push_back(Expr::Column(i, field.name, field.type));
  }
  std::get<CalcNode>(cases[0].plan.nodes[1].payload).projections = projection.projections;
  cases.push_back({"Calc that passes", PlanWith(projection, {})});
  cases.push_back({"Deduplicate", PlanWith(DeduplicateNode{{0}, 1, 2, 60'000}, {})});
  cases.push_back({"Aggregate", PlanWith(CountByKey(), counted)});
  AggregateNode windowed = CountByKey();
  windowed.windowed = true;
  windowed.window = {10'000, 10'000, 0, 1, false};
  windowed.emit = AggregateNode::Emit::kOnWatermark;
  cases.push_back({"windowed Aggregate", PlanWith(windowed, counted)});
  WindowNode window;
  window.window = windowed.window;
  cases.push_back({"Window", PlanWith(window, Schema{{{"k", number},
                                                      {"ts", time},
                                                      {"window_start", time},
                                                      {"window_end", time},
                                                      {"window_time", time},
                                                      {std::string(kClockColumn), number}}})});
  TopNNode top;
  top.partition = {0};
  top.order = {{1, false, false}};
  cases.push_back({"TopN", PlanWith(top, Schema{{{"k", number}, {"ts", time}}})});
  TopNNode first = top;
  first.order = {{1, true, true}};
  first.rowtime_first = true;
  cases.push_back({"FirstRow", PlanWith(first, Schema{{{"k", number}, {"ts", time}}})});
  cases.push_back(
      {"Materialize", PlanWith(MaterializeNode{{0}, false}, Schema{{{"k", number}, {"ts", time}}})});
  cases.push_back({"UnionAll", PlanWith(UnionNode{}, {})});
  cases.push_back({"Sort", PlanWith(SortNode{{{0, true, true}}}, Schema{{{"k", number}, {"ts", time}}})});
  return cases;
}

class AccountingTest : public ::testing::Test {
 protected:
  // The status in which the query ends.
  Status Run(const Plan& plan, const Theft& theft, std::set<std::string>* seen, bool losing_source = false,
             bool miscounting_sink = false) {
    ManualEnv env(1'800'000'000'000'000);
    MemoryFileSystem files(&env);
    SeededExecutor executor(&env, 7);
    FeedRegistry feeds;
    CollectRegistry collected;
    FeedConnector feed(&feeds);
    CollectConnector collect(&collected);
    LosingFeed losing(&feeds);
    MiscountingCollect miscounting(&collected);
    const Connector* list[] = {losing_source ? &losing : &feed, miscounting_sink ? &miscounting : &collect};
    JobOptions options;
    options.env = &env;
    options.files = &files;
    options.executor = &executor;
    options.connectors = list;
    options.pipeline = "p";
    options.state_root = "state";
    options.make_operator = [&](const Plan& of, int node) -> Result<std::unique_ptr<Operator>> {
      ASSIGN_OR_RETURN(std::unique_ptr<Operator> op, MakeOperator(of, node));
      return std::unique_ptr<Operator>(std::make_unique<Forgetful>(std::move(op), theft, seen));
    };
    // Each key twice; the second time the last two rows come after the watermark.
    for (int64_t i = 0; i < 40; ++i) {
      FeedRow row;
      row.values = {Value(i % 20), Value((i < 38 ? 1000 * i : 500) * 1000)};
      feeds.Get("clicks")->Push(0, row);
    }
    feeds.EndAll();
    auto job = Job::Start(plan, options);
    if (!job.ok()) return job.status();
    for (int i = 0; i < 100 && !(*job)->finished(); ++i) {
      executor.RunUntilIdle(100'000);
      env.Advance(100'000);
    }
    EXPECT_TRUE((*job)->finished());
    return (*job)->status();
  }
};

TEST_F(AccountingTest, AQueryStopsWhenAnyOperatorForgetsToCountOnce) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    std::set<std::string> places, ignored;
    const Status whole = Run(each.plan, {}, &places);
    EXPECT_TRUE(whole.ok()) << whole.ToString();
    EXPECT_FALSE(places.empty()) << "nothing to take away";
    for (const std::string& place : places) {
      SCOPED_TRACE(place);
      Theft theft;
      theft.emitted = place == "emit";
      theft.rejected = place == "reject";
      if (!theft.emitted && !theft.rejected) theft.counter = place;
      const Status status = Run(each.plan, theft, &ignored);
      EXPECT_THAT(status.message(), StartsWith("accounting: operator 'op' took 40 rows"));
      EXPECT_EQ(status.domain(), Domain::kInternal);
    }
  }
}

TEST_F(AccountingTest, AQueryStopsWhenASourceLosesARow) {
  std::set<std::string> ignored;
  EXPECT_THAT(
      Run(ClicksPlan(1), {}, &ignored, /*losing_source=*/true).message(),
      StartsWith("accounting: the positions of source 'clicks' moved over 40 records and 39 were read"));
}

TEST_F(AccountingTest, AQueryStopsWhenASinkCountsOtherwise) {
  std::set<std::string> ignored;
  const Status status = Run(ClicksPlan(1), {}, &ignored, false, /*miscounting_sink=*/true);
  EXPECT_THAT(status.message(), HasSubstr("sink 'out' published 20 rows and recounts 19"));
}

}  // namespace
}  // namespace caudal
