// A source whose outside does not answer: the job tells so, and is stopped all the same.
#include <gtest/gtest.h>

#include "api/outage.h"
#include "run/testing/job_fixture.h"

namespace caudal {
namespace {

class AwayReader : public SplitReader, public Outage {
 public:
  AwayReader(std::unique_ptr<SplitReader> inner, const bool* away) : inner_(std::move(inner)), away_(away) {}
  Result<Poll> Next() override { return *away_ ? Result<Poll>(Poll(NothingYet())) : inner_->Next(); }
  Position position() const override { return inner_->position(); }
  int64_t records_passed() const override { return inner_->records_passed(); }
  Status outage() const override {
    return *away_ ? Status::External("nobody answers", Retry::kBackoff) : Status();
  }

 private:
  std::unique_ptr<SplitReader> inner_;
  const bool* away_;
};

class AwaySource : public Source {
 public:
  AwaySource(std::unique_ptr<Source> inner, const bool* away) : inner_(std::move(inner)), away_(away) {}
  bool bounded() const override { return inner_->bounded(); }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return inner_->MakeEnumerator(); }
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SplitReader> reader, inner_->Open(split, position));
    return std::unique_ptr<SplitReader>(std::make_unique<AwayReader>(std::move(reader), away_));
  }

 private:
  std::unique_ptr<Source> inner_;
  const bool* away_;
};

class AwayConnector : public FeedConnector {
 public:
  AwayConnector(FeedRegistry* feeds, const bool* away) : FeedConnector(feeds), away_(away) {}
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Source> source, FeedConnector::MakeSource(table, request, context));
    return std::unique_ptr<Source>(std::make_unique<AwaySource>(std::move(source), away_));
  }

 private:
  const bool* away_;
};

class OutageJobTest : public JobFixture {
 protected:
  OutageJobTest() { connectors_ = {&source_, &collect_}; }

  bool away_ = false;
  AwayConnector source_{&feeds_, &away_};
};

TEST_F(OutageJobTest, IsToldWithItsSplitAndPasses) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Checkpoint(*job);
  EXPECT_TRUE(job->progress().trouble().ok());
  away_ = true;
  Run(*job);
  EXPECT_FALSE(job->finished());
  EXPECT_EQ(job->progress().trouble().ToString(), "error[external]: nobody answers\n  at feed clicks[0]");
  away_ = false;
  Run(*job);
  EXPECT_TRUE(job->progress().trouble().ok());
}

// What waits for an answer of an operator holds barriers up; a source lets them pass.
TEST_F(OutageJobTest, AStopWithoutAnAnswerIsNoFailure) {
  auto job = Start(ClicksPlan(1));
  Feed(1, 1000);
  Checkpoint(*job);
  away_ = true;
  Run(*job);
  EXPECT_FALSE(job->progress().trouble().ok());
  job->Stop(Job::StopKind::kSavepoint);
  Run(*job, 60'000);
  EXPECT_TRUE(job->finished());
  EXPECT_TRUE(job->status().ok()) << job->status().ToString();
}

// Whoever waits for the source to be idle must know that it has not been looked at.
TEST_F(OutageJobTest, WhatHasNotBeenPolledIsNotKnown) {
  auto job = Job::Prepare(ClicksPlan(1), Options());
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  EXPECT_FALSE((*job)->progress().operators[0].backlog.settled);
  (*job)->Begin();
  EXPECT_FALSE((*job)->progress().operators[0].backlog.settled);
  Run(**job);
  EXPECT_TRUE((*job)->progress().operators[0].backlog.settled);
}

}  // namespace
}  // namespace caudal
