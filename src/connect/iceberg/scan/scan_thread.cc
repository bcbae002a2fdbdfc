#include "connect/iceberg/scan/scan_thread.h"

#include <pthread.h>

#include <chrono>

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

bool ScanThread::Wait(int64_t millis) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::milliseconds(millis), [this] { return stopping_; });
}

void ScanThread::Run(const Open& open) {
  pthread_setname_np(pthread_self(), "reader");
  Result<std::unique_ptr<ScanRows>> scan = open();
  if (!scan.ok()) {
    Put({scan.status(), {}});
    return;
  }
  const int64_t pause = (*scan)->pause_millis();
  const bool grows = pause >= 0;
  ScanPosition told;
  while (true) {
    Result<SourceRows> rows = (*scan)->Next();
    const bool more = rows.ok() && !rows->chunk.empty();
    const bool failed = !rows.ok();
    // Who waits for rows need not hear again and again that there are none.
    const bool news = more || !grows || failed || (*scan)->position() != told;
    told = (*scan)->position();
    if (news && !Put({std::move(rows), told, grows})) return;
    if (failed || (!more && (!grows || !Wait(pause)))) return;
  }
}

}  // namespace caudal
