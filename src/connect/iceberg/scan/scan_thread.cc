#include "connect/iceberg/scan/scan_thread.h"

#include <pthread.h>

namespace caudal {

ScanThread::ScanThread(Open open) : thread_([this, open = std::move(open)] { Run(open); }) {}

ScanThread::~ScanThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<ScanBatch> ScanThread::Take() {
  std::lock_guard lock(mutex_);
  if (batches_.empty()) return std::nullopt;
  ScanBatch batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

bool ScanThread::Put(ScanBatch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || batches_.size() < kBatches; });
  if (stopping_) return false;
  batches_.push_back(std::move(batch));
  return true;
}

void ScanThread::Run(const Open& open) {
  pthread_setname_np(pthread_self(), "reader");
  Result<std::unique_ptr<ScanRows>> scan = open();
  if (!scan.ok()) {
    Put({scan.status(), {}});
    return;
  }
  for (bool more = true; more;) {
    Result<SourceRows> rows = (*scan)->Next();
    more = rows.ok() && !rows->chunk.empty();
    if (!Put({std::move(rows), (*scan)->position()})) return;
  }
}

}  // namespace caudal
