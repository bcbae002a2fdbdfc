// JobFixture: what tests of whole jobs are made of: a job in memory, from feeds to collected rows, whose
// tasks and whose time go on only where the test says so. Header only; one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "connect/collect/collect_connector.h"
#include "connect/feed/feed_connector.h"
#include "fs/memory_file_system.h"
#include "run/job.h"
#include "run/schedule/seeded_executor.h"
#include "run/testing/clicks_plan.h"

namespace caudal {

class JobFixture : public ::testing::Test {
 protected:
  JobOptions Options() {
    JobOptions options;
    options.env = &env_;
    options.files = &files_;
    options.executor = &executor_;
    options.connectors = connectors_;
    options.pipeline = "p";
    options.state_root = "state";
    options.steps = 1;
    return options;
  }
  std::unique_ptr<Job> Start(Plan plan) {
    auto job = Job::Start(std::move(plan), Options());
    EXPECT_TRUE(job.ok()) << job.status().ToString();
    return job.ok() ? std::move(*job) : nullptr;
  }
  // A row of clicks; a key below 0 is NULL.
  void Feed(int64_t key, int64_t millis) {
    FeedRow row;
    row.values = {key < 0 ? Value() : Value(key), Value(millis * 1000)};
    feeds_.Get("clicks")->Push(0, row);
  }
  // Runs `job` for `millis` of its time.
  void Run(Job& job, int64_t millis = 100) {
    job.Poll();
    for (int64_t i = 0; i < millis && !job.finished(); i += 10) {
      executor_.RunUntilIdle(100'000);
      env_.Advance(10'000);
    }
  }
  void Checkpoint(Job& job, int64_t millis = 100) {
    Run(job);
    job.TriggerCheckpoint();
    Run(job, millis);
  }

  ManualEnv env_{1'800'000'000'000'000};
  MemoryFileSystem files_{&env_};
  SeededExecutor executor_{&env_, 7};
  FeedRegistry feeds_;
  CollectRegistry collected_;
  FeedConnector feed_{&feeds_};
  CollectConnector collect_{&collected_};
  std::vector<const Connector*> connectors_ = {&feed_, &collect_};
};

}  // namespace caudal
