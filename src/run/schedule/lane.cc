#include "run/schedule/lane.h"

namespace caudal {

Lane::~Lane() {
  if (budget_ != nullptr) budget_->Charge(-bytes_);
}

void Lane::Push(Message message) {
  int64_t bytes = 64;
  if (const Chunk* chunk = std::get_if<Chunk>(&message))
    bytes += static_cast<int64_t>(chunk->RetainedBytes());
  {
    std::lock_guard lock(mutex_);
    entries_.push_back({std::move(message), bytes});
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  if (budget_ != nullptr) budget_->Charge(bytes);
  executor_->Wake(reader_);
}

bool Lane::full() {
  if (bytes_.load(std::memory_order_relaxed) < limit_) return false;
  std::lock_guard lock(mutex_);
  writer_waits_ = bytes_.load(std::memory_order_relaxed) >= limit_;
  return writer_waits_;
}

bool Lane::empty() {
  std::lock_guard lock(mutex_);
  return entries_.empty();
}

bool Lane::Pop(Message* message) {
  bool wake_writer = false;
  int64_t bytes = 0;
  {
    std::lock_guard lock(mutex_);
    if (entries_.empty()) return false;
    *message = std::move(entries_.front().message);
    bytes = entries_.front().bytes;
    entries_.pop_front();
    const int64_t left = bytes_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
    if (writer_waits_ && left <= limit_ / 2) {
      writer_waits_ = false;
      wake_writer = true;
    }
  }
  if (budget_ != nullptr) budget_->Charge(-bytes);
  if (wake_writer) executor_->Wake(writer_);
  return true;
}

}  // namespace caudal
