// The test that every sink passes, real or fake: an epoch becomes visible once, whatever dies, repeats or
// wakes up late. Header only; a test includes it and calls CheckSinkContract.
//
// A sink says how a new process opens it, gives rows, and shows its target as text. Targets in memory set
// `forks` to false, since a child's changes would not be seen.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/sink.h"
#include "base/fault_point.h"

namespace caudal {

struct SinkUnderTest {
  // The same target, as a process of that generation opens it.
  std::function<Result<std::unique_ptr<Sink>>(int64_t generation)> open;
  // Some rows, others for each number.
  std::function<Chunk(int64_t number)> rows;
  // All that a reader of the target sees, in a canonical order.
  std::function<std::string()> contents;
  bool forks = true;
};

namespace sink_contract {

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string message) override { ADD_FAILURE() << message; }
};

// Writes the rows of `number` in a new process of `generation` and makes them durable.
inline std::vector<Committable> Prepared(const SinkUnderTest& test, int64_t generation, int64_t number) {
  std::vector<Committable> committables;
  auto sink = test.open(generation);
  EXPECT_TRUE(sink.ok()) << sink.status().ToString();
  if (!sink.ok()) return committables;
  auto writer = (*sink)->MakeWriter(0);
  EXPECT_TRUE(writer.ok()) << writer.status().ToString();
  if (!writer.ok()) return committables;
  NoRejects rejects;
  const Chunk rows = test.rows(number);
  const Status written = (*writer)->Write(rows, rejects);
  EXPECT_TRUE(written.ok()) << written.ToString();
  auto sealed = (*writer)->Seal({generation, number});
  EXPECT_TRUE(sealed.ok()) << sealed.status().ToString();
  if (!sealed.ok() || *sealed == nullptr) return committables;
  auto committable = (*sealed)->Prepare();
  EXPECT_TRUE(committable.ok()) << committable.status().ToString();
  if (!committable.ok()) return committables;
  EXPECT_EQ(committable->rows_added + committable->rows_removed, rows.size()) << "the sink's own recount";
  committables.push_back(*committable);
  return committables;
}

inline CommitResult Commit(const SinkUnderTest& test, int64_t generation, Epoch epoch,
                           const std::vector<Committable>& committables) {
  auto sink = test.open(generation);
  if (!sink.ok()) return {CommitOutcome::kUnknown, sink.status()};
  auto committer = (*sink)->MakeCommitter();
  if (!committer.ok()) return {CommitOutcome::kUnknown, committer.status()};
  return (*committer)->Commit(epoch, committables);
}

inline void ExpectCommitted(const CommitResult& result) {
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.status.ToString();
}

// Commits in a child process that dies at the `pass`-th pass of `point`; false if it never came there.
inline bool CommitAndDie(const SinkUnderTest& test, Epoch epoch, const std::vector<Committable>& committables,
                         FaultPoint point, int64_t pass) {
  const pid_t child = fork();
  if (child == 0) {
    Faults::Arm(point, FaultAction::kCrash, pass);
    Commit(test, epoch.generation, epoch, committables);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace sink_contract

// REQUIRES: an empty target.
inline void CheckSinkContract(const SinkUnderTest& test) {
  using namespace sink_contract;
  const std::string empty = test.contents();
  const std::vector<Committable> first = Prepared(test, 1, 1);
  EXPECT_EQ(test.contents(), empty) << "nothing is visible before Commit";

  if (test.forks) {
    for (FaultPoint point : {FaultPoint::disk_write, FaultPoint::disk_sync, FaultPoint::disk_rename}) {
      for (int64_t pass = 1; pass <= 3; ++pass) CommitAndDie(test, {1, 1}, first, point, pass);
    }
  }
  ExpectCommitted(Commit(test, 1, {1, 1}, first));
  const std::string after_first = test.contents();
  EXPECT_NE(after_first, empty);
  ExpectCommitted(Commit(test, 1, {1, 1}, first));  // the answer was lost
  ExpectCommitted(Commit(test, 2, {1, 1}, first));  // a restart repeats it
  EXPECT_EQ(test.contents(), after_first) << "an epoch repeated is an epoch once";

  // A new generation goes on.
  const std::vector<Committable> second = Prepared(test, 2, 2);
  EXPECT_EQ(test.contents(), after_first);
  ExpectCommitted(Commit(test, 2, {2, 2}, second));
  const std::string after_second = test.contents();
  EXPECT_NE(after_second, after_first);
  ExpectCommitted(Commit(test, 1, {1, 1}, first));  // a zombie wakes up in the middle of its commit
  EXPECT_EQ(test.contents(), after_second) << "an older epoch changes nothing";
  ExpectCommitted(Commit(test, 3, {2, 2}, second));
  EXPECT_EQ(test.contents(), after_second);

  // What is prepared and never committed goes away without a trace.
  Prepared(test, 3, 3);
  auto sink = test.open(4);
  ASSERT_TRUE(sink.ok()) << sink.status().ToString();
  auto committer = (*sink)->MakeCommitter();
  ASSERT_TRUE(committer.ok()) << committer.status().ToString();
  const Status removed = (*committer)->RemoveLeftovers();
  EXPECT_TRUE(removed.ok()) << removed.ToString();
  EXPECT_EQ(test.contents(), after_second);
}

}  // namespace caudal
