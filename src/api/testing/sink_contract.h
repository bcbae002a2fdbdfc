// The test that every sink passes, real or fake: an epoch becomes visible once, whatever dies, repeats or
// wakes up late. Header only; a test includes it and calls CheckSinkContract.
//
// A sink says how a new process opens it, gives rows, and shows its target as text. Two targets go through
// the same epochs, one of them undisturbed; they must look the same. What a sink's guarantee() does not
// promise
// ("at least once") is not asked of it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "api/testing/sink_under_test.h"
#include "base/fault_point.h"

namespace caudal {

namespace sink_contract {

// Where a commit may be cut short.
constexpr FaultPoint kCommitPoints[] = {FaultPoint::disk_write,      FaultPoint::disk_sync,
                                        FaultPoint::disk_rename,     FaultPoint::database_commit,
                                        FaultPoint::network_connect, FaultPoint::network_send,
                                        FaultPoint::network_receive};

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

// The same with a target that gives no answer there.
inline bool CommitAndFail(const SinkUnderTest& test, Epoch epoch,
                          const std::vector<Committable>& committables, FaultPoint point, int64_t pass) {
  Faults::Arm(point, FaultAction::kError, pass);
  const CommitResult result = Commit(test, epoch.generation, epoch, committables);
  Faults::Disarm();
  EXPECT_NE(result.outcome, CommitOutcome::kLost) << result.status.ToString();
  return result.outcome != CommitOutcome::kCommitted;
}

// An epoch a fault: committed half, then whole, then once more. Returns how many commits were cut short.
inline int CheckFaults(const SinkUnderTest& test, const SinkUnderTest& calm) {
  int cut_short = 0;
  int64_t number = 0;
  for (bool kill : {true, false}) {
    for (const FaultPoint point : kCommitPoints) {
      for (int64_t pass = 1; pass <= 3; ++pass) {
        if (kill && !test.forks) continue;
        const Epoch epoch{1, ++number};
        ExpectCommitted(Commit(calm, 1, epoch, Prepared(calm, 1, number)));
        const std::vector<Committable> rows = Prepared(test, 1, number);
        cut_short += kill ? CommitAndDie(test, epoch, rows, point, pass)
                          : CommitAndFail(test, epoch, rows, point, pass);
        ExpectCommitted(Commit(test, 1, epoch, rows));
        ExpectCommitted(Commit(test, 2, epoch, rows));
        EXPECT_EQ(test.contents(), calm.contents()) << "after a fault at " << Faults::Name(point);
      }
    }
  }
  return cut_short;
}

// Repeats, a restart, a zombie, and what was prepared and never committed. REQUIRES: epochs of generation 1.
inline void CheckRepeats(const SinkUnderTest& test, bool exactly_once) {
  const std::string before = test.contents();
  constexpr int64_t kFirst = 1'000;  // past what CheckFaults has used
  const std::vector<Committable> first = Prepared(test, 1, kFirst);
  EXPECT_EQ(test.contents(), before) << "nothing is visible before Commit";
  ExpectCommitted(Commit(test, 1, {1, kFirst}, first));
  const std::string after_first = test.contents();
  EXPECT_TRUE(!test.shows || after_first != before) << "a commit shows its rows";
  if (!exactly_once) return;
  ExpectCommitted(Commit(test, 1, {1, kFirst}, first));  // the answer was lost
  ExpectCommitted(Commit(test, 2, {1, kFirst}, first));  // a restart repeats it
  EXPECT_EQ(test.contents(), after_first) << "an epoch repeated is an epoch once";

  // A new generation goes on.
  const std::vector<Committable> second = Prepared(test, 2, kFirst + 1);
  EXPECT_EQ(test.contents(), after_first);
  ExpectCommitted(Commit(test, 2, {2, kFirst + 1}, second));
  const std::string after_second = test.contents();
  EXPECT_TRUE(!test.shows || after_second != after_first) << "a commit shows its rows";
  ExpectCommitted(Commit(test, 1, {1, kFirst}, first));  // a zombie wakes up in the middle of its commit
  EXPECT_EQ(test.contents(), after_second) << "an older epoch changes nothing";
  ExpectCommitted(Commit(test, 3, {2, kFirst + 1}, second));
  EXPECT_EQ(test.contents(), after_second);

  // What is prepared and never committed goes away without a trace.
  Prepared(test, 3, kFirst + 2);
  auto sink = test.open(4);
  ASSERT_TRUE(sink.ok()) << sink.status().ToString();
  auto committer = (*sink)->MakeCommitter();
  ASSERT_TRUE(committer.ok()) << committer.status().ToString();
  const Status removed = (*committer)->RemoveLeftovers();
  EXPECT_TRUE(removed.ok()) << removed.ToString();
  EXPECT_EQ(test.contents(), after_second);
}

}  // namespace sink_contract

// `make` gives a sink with an empty target of its own, each time another. Returns how many commits were cut
// short by a fault, for the caller to say whether its sink has any place where that can be.
inline int CheckSinkContract(const std::function<SinkUnderTest()>& make) {
  const SinkUnderTest test = make(), calm = make();
  auto sink = test.open(1);
  EXPECT_TRUE(sink.ok()) << sink.status().ToString();
  const bool exactly_once = sink.ok() && (*sink)->guarantee() == "exactly once";
  const int cut_short = exactly_once ? sink_contract::CheckFaults(test, calm) : 0;
  sink_contract::CheckRepeats(test, exactly_once);
  return cut_short;
}

}  // namespace caudal
