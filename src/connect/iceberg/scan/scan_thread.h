// ScanThread: plans a share of a table and reads it ahead of the task, so that Poll never waits for a disk.
//
// Owns its thread; the destructor stops it, and waits for the read that is under way. Take is for one other
// thread. It holds at most kBatches chunks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "connect/iceberg/scan/scan_rows.h"

namespace caudal {

// What the thread hands over.
struct ScanBatch {
  Result<SourceRows> rows;  // without any: the share is read, unless it `grows`
  ScanPosition position;    // after them
  bool grows = false;
};

class ScanThread {
 public:
  static constexpr size_t kBatches = 4;
  using Open = std::function<Result<std::unique_ptr<ScanRows>>()>;

  explicit ScanThread(Open open);
  ~ScanThread();

  // The next batch, if one is ready. After an error or the end there is none.
  std::optional<ScanBatch> Take();

 private:
  void Run(const Open& open);
  // False: the reader is being destroyed.
  bool Wait(int64_t millis);
  // False: the reader is being destroyed.
  bool Put(ScanBatch batch);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ScanBatch> batches_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace caudal
