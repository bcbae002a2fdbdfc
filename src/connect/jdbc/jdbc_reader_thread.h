// JdbcReaderThread: opens a table and reads it ahead of the task, so that Poll never waits for the database.
//
// Owns its thread; the destructor stops it, and waits for the call to the database that is under way. Take is
// for one other thread. It holds at most kBatches batches of Chunk::kMaxRows rows.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "connect/jdbc/jdbc_rows.h"

namespace caudal {

// What the thread hands over.
struct JdbcBatch {
  Result<SourceRows> rows;  // without any: the table is read
  JdbcPosition position;    // behind them
};

class JdbcReaderThread {
 public:
  static constexpr size_t kBatches = 3;
  using Open = std::function<Result<std::unique_ptr<JdbcRows>>()>;

  explicit JdbcReaderThread(Open open);
  ~JdbcReaderThread();

  // The next batch, if one is ready. After an error or the end of the table there is none.
  std::optional<JdbcBatch> Take();

 private:
  void Run(const Open& open);
  // False: the reader is being destroyed.
  bool Put(JdbcBatch batch);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<JdbcBatch> batches_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace caudal
