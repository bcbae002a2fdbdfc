#include "connect/jdbc/jdbc_reader_thread.h"

#include <pthread.h>

namespace caudal {

JdbcReaderThread::JdbcReaderThread(Open open) : thread_([this, open = std::move(open)] { Run(open); }) {}

JdbcReaderThread::~JdbcReaderThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<JdbcBatch> JdbcReaderThread::Take() {
  std::lock_guard lock(mutex_);
  if (batches_.empty()) return std::nullopt;
  JdbcBatch batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

bool JdbcReaderThread::Put(JdbcBatch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || batches_.size() < kBatches; });
  if (stopping_) return false;
  batches_.push_back(std::move(batch));
  return true;
}

void JdbcReaderThread::Run(const Open& open) {
  pthread_setname_np(pthread_self(), "reader");
  Result<std::unique_ptr<JdbcRows>> table = open();
  if (!table.ok()) {
    Put({table.status(), {}});
    return;
  }
  for (bool more = true; more;) {
    Result<SourceRows> rows = (*table)->Next();
    more = rows.ok() && !(rows->chunk.empty() && rows->rejected.empty());
    if (!Put({std::move(rows), (*table)->position()})) return;
  }
}

}  // namespace caudal
