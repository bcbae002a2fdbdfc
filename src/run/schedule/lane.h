// Lane: a queue of messages from one task to another: one writer, one reader, in order.
//
// Bounded by retained bytes: Push never blocks and never refuses, the writer asks full() between steps and is
// woken when there is room. Push and full are the writer's, Pop and empty the reader's thread's; nothing else
// is shared.
#pragma once

#include <deque>
#include <mutex>

#include "base/memory_budget.h"
#include "data/message.h"
#include "run/schedule/executor.h"

namespace caudal {

class Lane {
 public:
  // `budget` may be null.
  Lane(Executor* executor, int64_t limit_bytes, MemoryBudget* budget)
      : executor_(executor), limit_(limit_bytes), budget_(budget) {}
  ~Lane();

  // Before the first message.
  void Connect(Runnable* writer, Runnable* reader) {
    writer_ = writer;
    reader_ = reader;
  }

  void Push(Message message);
  // Above its mark. When it says so, the writer is woken once there is room again.
  bool full();

  bool empty();
  bool Pop(Message* message);  // false when empty

  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    Message message;
    int64_t bytes;
  };
  Executor* executor_;
  int64_t limit_;
  MemoryBudget* budget_;
  Runnable* writer_ = nullptr;
  Runnable* reader_ = nullptr;
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<int64_t> bytes_{0};
  bool writer_waits_ = false;
};

}  // namespace caudal
