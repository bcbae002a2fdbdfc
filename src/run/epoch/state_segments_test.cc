#include "run/epoch/state_segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/fault_point.h"
#include "fs/memory_file_system.h"

namespace caudal {
namespace {

using Kind = StateTable::SnapshotKind;

constexpr size_t kSize = 1 << 20;

class StateSegmentsTest : public ::testing::Test {
 protected:
  StateSegmentsTest() {
    store_ = CheckpointStore::Open(&env_, &files_, "state", "p/q").value();
    EXPECT_TRUE(store_->Restore().ok());
  }
  ~StateSegmentsTest() override { Faults::Disarm(); }

  bool Add(int64_t epoch, std::string records, Kind kind = Kind::kDelta, int node = 0) {
    return segments_.Add({node, {1, epoch}, kind, "keys", std::move(records)});
  }
  // Until nothing is left.
  void WriteAll() {
    while (segments_.due(/*all=*/true)) ASSERT_TRUE(segments_.Write(store_.get()).ok());
  }
  // What the segments hold, each by its first byte.
  std::string Stored(int node = 0) {
    Manifest manifest;
    manifest.nodes.emplace_back().segments = segments_.refs(node);
    EXPECT_TRUE(VerifySegments(&files_, "state", manifest).ok());
    std::string stored;
    for (const SegmentRef& ref : manifest.nodes[0].segments)
      stored.push_back((*files_.ReadAll("state/" + ref.file))[static_cast<size_t>(ref.offset)]);
    return stored;
  }

  ManualEnv env_;
  MemoryFileSystem files_{&env_};
  std::unique_ptr<CheckpointStore> store_;
  MemoryBudget budget_{"query", 0};
  StateSegments segments_{2, &budget_};
};

// A segment is referred to for as long as the state in it counts: up to 64 epochs.
TEST_F(StateSegmentsTest, WhatIsWrittenIsNotHeld) {
  for (int64_t epoch = 1; epoch <= 3; ++epoch) {
    segments_.Begin(epoch);
    EXPECT_FALSE(Add(epoch, std::string(kSize, 'x')));
    EXPECT_TRUE(segments_.due(/*all=*/true));
    EXPECT_GE(segments_.held_bytes(), static_cast<int64_t>(kSize));
    EXPECT_EQ(budget_.used(), segments_.held_bytes());
    WriteAll();
    EXPECT_FALSE(segments_.due(/*all=*/true));
    EXPECT_EQ(segments_.held_bytes(), 0);
    EXPECT_EQ(budget_.used(), 0);
    EXPECT_EQ(segments_.refs(0).size(), static_cast<size_t>(epoch));
  }
}

// A snapshot of any size, by a task that makes a segment whenever it may and a disk as slow as can be.
TEST_F(StateSegmentsTest, ALargeSnapshotIsNeverHeldAsAWhole) {
  constexpr int64_t kMost = SnapshotBytes().most_waiting + 2 * static_cast<int64_t>(kSize);
  segments_.Begin(1);
  std::string added;
  while (added.size() < 200) {
    while (segments_.TakesMore()) {
      added.push_back(static_cast<char>('a' + added.size() % 26));
      Add(1, std::string(kSize, added.back()));
      EXPECT_LE(budget_.used(), kMost);
    }
    ASSERT_TRUE(segments_.due(/*all=*/false));
    EXPECT_FALSE(segments_.TakeRelief());
    ASSERT_TRUE(segments_.Write(store_.get()).ok());
    EXPECT_TRUE(segments_.TakeRelief());
  }
  WriteAll();
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(Stored(), added);
  std::set<std::string> files;
  for (const SegmentRef& ref : segments_.refs(0)) files.insert(ref.file);
  EXPECT_GT(files.size(), 10u);
}

// Whatever could not be written goes with the next epoch, and the task must not wait for it: without its ack
// there is no next epoch.
TEST_F(StateSegmentsTest, NothingIsLostByAFileThatFails) {
  segments_.Begin(1);
  Add(1, std::string(kSize, 'a'));
  Add(1, std::string(kSize, 'b'), Kind::kDelta, 1);
  ASSERT_TRUE(segments_.Write(store_.get()).ok());
  std::string added = "a";
  for (int i = 0; i < 20; ++i) {
    added.push_back(static_cast<char>('c' + i));
    Add(1, std::string(kSize, added.back()));
  }
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1);
  EXPECT_FALSE(segments_.Write(store_.get()).ok());
  EXPECT_TRUE(segments_.TakesMore());
  EXPECT_FALSE(segments_.due(/*all=*/true));  // not in this epoch
  Add(1, std::string(kSize, 'z'));
  EXPECT_GE(budget_.used(), 21 * static_cast<int64_t>(kSize));

  EXPECT_EQ(segments_.Begin(2)[0], Kind::kDelta);
  EXPECT_TRUE(segments_.due(/*all=*/false));
  WriteAll();
  EXPECT_EQ(Stored(), added + "z");
  EXPECT_EQ(Stored(1), "b");
  EXPECT_EQ(budget_.used(), 0);
}

// What a full snapshot replaces need not be written any more, even while it is on its way.
TEST_F(StateSegmentsTest, AFullSnapshotReplacesWhatWaits) {
  segments_.Begin(1);
  Add(1, std::string(kSize, 'a'));
  Add(1, std::string(kSize, 'b'), Kind::kDelta, 1);
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1);
  EXPECT_FALSE(segments_.Write(store_.get()).ok());
  segments_.Begin(2);
  Add(2, std::string(kSize, 'c'), Kind::kFull);
  Add(2, std::string(kSize, 'd'), Kind::kFull);
  segments_.Complete(0, Kind::kFull);
  EXPECT_LT(budget_.used(), 4 * static_cast<int64_t>(kSize));
  WriteAll();
  EXPECT_EQ(Stored(), "cd");
  EXPECT_EQ(Stored(1), "b");
  segments_.Begin(3);
  segments_.Complete(0, Kind::kFull);  // and there is no row any more
  EXPECT_TRUE(segments_.refs(0).empty());
}

// Tables reserve a segment's room before they know how little they have to say.
TEST_F(StateSegmentsTest, SmallSegmentsCountAsWhatTheyHave) {
  segments_.Begin(1);
  for (int i = 0; i < 40; ++i) {
    std::string records(100, 'x');
    records.reserve(kSize);
    EXPECT_FALSE(Add(1, std::move(records)));
    EXPECT_TRUE(segments_.TakesMore());
  }
  EXPECT_LT(budget_.used(), 40 * 200);
  ASSERT_TRUE(segments_.Write(store_.get()).ok());
  EXPECT_FALSE(segments_.due(/*all=*/true));
  EXPECT_EQ(Stored(), std::string(40, 'x'));
}

// What does not fit while the disk refuses is not held: the node gives everything at the next barrier.
TEST_F(StateSegmentsTest, ALargeSnapshotIsNotHeldBecauseAFileFailed) {
  constexpr int64_t kMost = SnapshotBytes().most_waiting + static_cast<int64_t>(kSize);
  for (const Kind kind : {Kind::kFull, Kind::kDelta}) {
    const int64_t epoch = kind == Kind::kFull ? 1 : 3;
    segments_.Begin(epoch);
    while (segments_.TakesMore()) Add(epoch, std::string(kSize, 'a'), kind);
    Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1);
    EXPECT_FALSE(segments_.Write(store_.get()).ok());
    EXPECT_TRUE(segments_.TakeRelief());  // the task must not wait: without its ack there is no next epoch
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(segments_.TakesMore());
      Add(epoch, std::string(kSize, 'b'), kind);
      EXPECT_LE(budget_.used(), kMost);
    }
    const std::vector<Kind> kinds = segments_.Begin(epoch + 1);
    EXPECT_EQ(kinds[0], Kind::kFull);
    EXPECT_EQ(kinds[1], Kind::kDelta);
    EXPECT_FALSE(segments_.due(/*all=*/true));  // nothing of the old one is written for nothing
    EXPECT_TRUE(segments_.TakesMore());
    EXPECT_EQ(budget_.used(), 0);
    Add(epoch + 1, std::string(kSize, 'c'), Kind::kFull);
    WriteAll();
    EXPECT_EQ(Stored(), "c");
    Add(epoch + 1, std::string(kSize, 'd'), Kind::kDelta, 1);
    WriteAll();
  }
}

// Of what waits all will be in one epoch's files.
TEST_F(StateSegmentsTest, WhatWaitsIsOneEpoch) {
  segments_.Begin(1);
  for (int i = 0; i < 100; ++i) Add(1, "x");
  Faults::Arm(FaultPoint::disk_write, FaultAction::kError, 1, 1);
  EXPECT_FALSE(segments_.Write(store_.get()).ok());
  EXPECT_EQ(segments_.Begin(2)[0], Kind::kDelta);
}

TEST_F(StateSegmentsTest, AllOfARestoredFullSnapshotIsFull) {
  std::vector<SegmentRef> refs;
  for (int i = 0; i < 5; ++i) refs.push_back({"keys", i < 3 ? "segment-1-1" : "segment-1-1-2", 8, 1000, 0});
  for (int epoch = 2; epoch <= 9; ++epoch)
    refs.push_back({"keys", "segment-1-" + std::to_string(epoch), 8, 1000, 0});
  segments_.Restore(0, refs);
  EXPECT_EQ(segments_.Begin(10)[0], Kind::kDelta);
}

// A restore reads few epochs, however many files each has.
TEST_F(StateSegmentsTest, EpochsAreCountedAndNotFiles) {
  for (int64_t epoch = 1; epoch <= 64; ++epoch) {
    EXPECT_EQ(segments_.Begin(epoch)[0], Kind::kDelta) << epoch;
    for (int file = 0; file < 3; ++file) {
      Add(epoch, std::string(epoch == 1 ? 1000 : 1, 'x'), epoch == 1 ? Kind::kFull : Kind::kDelta);
      WriteAll();
    }
  }
  EXPECT_EQ(segments_.Begin(65)[0], Kind::kFull);
}

}  // namespace
}  // namespace caudal
