// SinkUnderTest: a sink and its target as the shared test (sink_contract.h) sees them, and what it does to
// them. Header only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/sink.h"

namespace caudal {

struct SinkUnderTest {
  // The same target, as a process of that generation opens it.
  std::function<Result<std::unique_ptr<Sink>>(int64_t generation)> open;
  // Some rows, others for each number.
  std::function<Chunk(int64_t number)> rows;
  // All that a reader of the target sees, in a canonical order.
  std::function<std::string()> contents;
  // Whether a process can be killed: not if the target is in memory, where a child's changes are not seen.
  bool forks = true;
  bool shows = true;  // whether rows can be seen at all
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

}  // namespace sink_contract

}  // namespace caudal
