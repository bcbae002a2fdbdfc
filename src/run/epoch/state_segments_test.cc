#include "run/epoch/state_segments.h"

#include <gtest/gtest.h>

#include "fs/memory_file_system.h"

namespace caudal {
namespace {

NodeAck AckWith(int64_t epoch, std::string records) {
  NodeAck ack;
  ack.epoch = {1, epoch};
  ack.tables.push_back({"keys", std::move(records)});
  return ack;
}

// A segment is referred to for as long as the state in it counts: up to 64 epochs.
TEST(StateSegments, WhatIsWrittenIsNotHeld) {
  constexpr size_t kSize = 1 << 20;
  ManualEnv env;
  MemoryFileSystem files(&env);
  auto store = CheckpointStore::Open(&env, &files, "state", "p/q");
  ASSERT_TRUE(store.ok());
  StateSegments segments(1);
  for (int64_t epoch = 1; epoch <= 3; ++epoch) {
    NodeAck ack = AckWith(epoch, std::string(kSize, 'x'));
    segments.Add(ack);
    EXPECT_TRUE(segments.dirty());
    EXPECT_GE(segments.held_bytes(), static_cast<int64_t>(kSize));
    ASSERT_TRUE(segments.Write(store->get(), epoch).ok());
    EXPECT_FALSE(segments.dirty());
    EXPECT_LT(segments.held_bytes(), 1000);
    EXPECT_EQ(segments.refs(0).size(), static_cast<size_t>(epoch));
  }
}

}  // namespace
}  // namespace caudal
