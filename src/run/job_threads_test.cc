// Jobs on real threads; what they compute is job_test's.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "connect/collect/collect_connector.h"
#include "connect/feed/feed_connector.h"
#include "fs/memory_file_system.h"
#include "op/make_operator.h"
#include "run/job.h"
#include "run/schedule/pool_executor.h"
#include "run/testing/clicks_plan.h"

namespace caudal {
namespace {

// A writer that can be full.
class TightWriter : public SinkWriter {
 public:
  TightWriter(std::unique_ptr<SinkWriter> inner, const std::atomic<bool>* full)
      : inner_(std::move(inner)), full_(full) {}
  bool full() const override { return *full_; }
  Status Write(const Chunk& chunk, SinkRejects& rejects) override { return inner_->Write(chunk, rejects); }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override { return inner_->Seal(epoch); }
  int64_t buffered_bytes() const override { return inner_->buffered_bytes(); }

 private:
  std::unique_ptr<SinkWriter> inner_;
  const std::atomic<bool>* full_;
};

class TightSink : public Sink {
 public:
  TightSink(std::unique_ptr<Sink> inner, const std::atomic<bool>* full)
      : inner_(std::move(inner)), full_(full) {}
  ChangelogKinds accepts() const override { return inner_->accepts(); }
  std::string_view guarantee() const override { return inner_->guarantee(); }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SinkWriter> writer, inner_->MakeWriter(task));
    return std::unique_ptr<SinkWriter>(std::make_unique<TightWriter>(std::move(writer), full_));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override { return inner_->MakeCommitter(); }

 private:
  std::unique_ptr<Sink> inner_;
  const std::atomic<bool>* full_;
};

class TightConnector : public CollectConnector {
 public:
  TightConnector(CollectRegistry* registry, const std::atomic<bool>* full)
      : CollectConnector(registry), full_(full) {}
  Result<std::unique_ptr<Sink>> MakeSink(const Table& table, const ConnectorContext& context) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, CollectConnector::MakeSink(table, context));
    return std::unique_ptr<Sink>(std::make_unique<TightSink>(std::move(sink), full_));
  }

 private:
  const std::atomic<bool>* full_;
};

// A job of its own world on the threads of `pool`.
class ThreadedJob {
 public:
  ThreadedJob(PoolExecutor* pool, Plan plan, OperatorFactory make_operator = nullptr) {
    JobOptions options;
    options.env = Env::Real();
    options.files = &files_;
    options.executor = pool;
    options.connectors = list_;
    options.make_operator = std::move(make_operator);
    options.state_root = "state";
    auto job = Job::Start(std::move(plan), options);
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    if (job.ok()) job_ = std::move(*job);
  }
  void Feed(Value key, int64_t millis) {
    FeedRow row;
    row.values = {std::move(key), Value(millis * 1000)};
    feeds_.Get("clicks")->Push(0, row);
  }
  Job& job() { return *job_; }
  FeedRegistry& feeds() { return feeds_; }
  std::atomic<bool>& sink_full() { return sink_full_; }
  size_t committed_rows() { return collected_.Get("out")->committed_count(); }

 private:
  FeedRegistry feeds_;
  CollectRegistry collected_;
  FeedConnector feed_{&feeds_};
  std::atomic<bool> sink_full_ = false;
  TightConnector collect_{&collected_, &sink_full_};
  const Connector* list_[2] = {&feed_, &collect_};
  MemoryFileSystem files_{Env::Real()};
  std::unique_ptr<Job> job_;
};

bool Within(std::chrono::seconds limit, const std::function<bool()>& reached) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!reached()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Takes its first chunk when it is let.
class Stuck : public Operator {
 public:
  struct Door {
    std::atomic<bool> reached{false};
    std::atomic<bool> open{false};
    void Open() {
      open = true;
      open.notify_all();
    }
  };
  explicit Stuck(Door* door) : door_(door) {}
  Status Open(const OperatorContext&) override { return Status(); }
  Result<Progress> OnChunk(int, const Chunk& chunk, Output& out) override {
    door_->reached = true;
    door_->open.wait(false);
    out.Emit(chunk);
    return Progress::kDone;
  }
  bool passes_rows() const override { return true; }

 private:
  Door* door_;
};

TEST(JobThreadsTest, ThreadsRunItToTheSameEnd) {
  for (int round = 0; round < 3; ++round) {
    PoolExecutor pool(Env::Real(), 3, 2);
    Plan plan = ClicksPlan(2);
    plan.settings["execution.checkpointing.interval"] = "5 ms";
    ThreadedJob threaded(&pool, plan);
    constexpr int64_t kRows = 20'000;
    for (int64_t i = 0; i < kRows; ++i) {
      threaded.Feed(Value(i / 2), i);
      if (i % 4000 == 0) threaded.job().progress();
    }
    threaded.feeds().EndAll();
    threaded.job().Poll();
    const Status status = threaded.job().Wait();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(threaded.committed_rows(), static_cast<size_t>(kRows / 2));
    EXPECT_GE(threaded.job().progress().checkpoints.committed, 1);
  }
}

// With two threads: one is in the step, the other must not wait for it.
TEST(JobThreadsTest, ASlowStepOfAQueryThatEndsHoldsNoOtherUp) {
  PoolExecutor pool(Env::Real(), 2, 2);
  Stuck::Door door;
  Plan plan = ClicksPlan(1);
  plan.nodes[1].inputs[0].exchange.kind = Exchange::Kind::kLane;
  ThreadedJob ending(&pool, plan, [&](const Plan&, int) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<Stuck>(&door));
  });
  plan.settings["execution.checkpointing.interval"] = "20 ms";
  ThreadedJob other(&pool, plan);

  ending.Feed(Value(int64_t{1}), 1000);
  ending.job().Poll();
  ASSERT_TRUE(Within(std::chrono::seconds(20), [&] { return door.reached.load(); }));
  ending.Feed(Value(), 2000);  // breaks NOT NULL: the query fails in its other task
  ending.job().Poll();
  const auto epochs = [&] { return other.job().progress().checkpoints.committed; };
  const int64_t before = epochs();
  EXPECT_TRUE(Within(std::chrono::seconds(5), [&] { return epochs() > before + 5; }));
  EXPECT_FALSE(ending.job().finished());

  door.Open();
  const Status status = ending.job().Wait();
  EXPECT_EQ(status.domain(), Domain::kData) << status.ToString();
}

// Back-pressure: nothing goes wrong, nothing is taken, and nobody has to say when there is room again.
TEST(JobThreadsTest, AFullSinkHoldsRowsBackAndGoesOnByItself) {
  PoolExecutor pool(Env::Real(), 2, 2);
  Plan plan = ClicksPlan(1);
  plan.nodes[2].inputs[0].exchange.kind = Exchange::Kind::kLane;
  plan.settings["execution.checkpointing.interval"] = "20 ms";
  ThreadedJob threaded(&pool, plan);
  threaded.sink_full() = true;
  threaded.Feed(Value(int64_t{1}), 1000);
  threaded.job().Poll();
  const auto of_sink = [&] { return threaded.job().progress().operators.back(); };
  ASSERT_TRUE(Within(std::chrono::seconds(20), [&] {
    return threaded.job().progress().operators.front().rows_out == 1 && of_sink().blocked > 0;
  }));
  EXPECT_EQ(of_sink().rows_in, std::vector<int64_t>{0});
  threaded.sink_full() = false;
  EXPECT_TRUE(Within(std::chrono::seconds(20), [&] { return threaded.committed_rows() == 1; }));
}

}  // namespace
}  // namespace caudal
