#include "connect/feed/feed.h"

#include <algorithm>

namespace caudal {

void Feed::Push(int split, FeedRow row) {
  std::lock_guard lock(mutex_);
  splits_[split].push_back(std::move(row));
}

void Feed::End() {
  std::lock_guard lock(mutex_);
  ended_ = true;
}

std::vector<FeedRow> Feed::Read(int split, int64_t from, int32_t limit) const {
  std::lock_guard lock(mutex_);
  const auto found = splits_.find(split);
  if (found == splits_.end()) return {};
  const std::vector<FeedRow>& rows = found->second;
  const int64_t begin = std::min<int64_t>(from, static_cast<int64_t>(rows.size()));
  const int64_t end = std::min<int64_t>(begin + limit, static_cast<int64_t>(rows.size()));
  return {rows.begin() + begin, rows.begin() + end};
}

int64_t Feed::size(int split) const {
  std::lock_guard lock(mutex_);
  const auto found = splits_.find(split);
  return found == splits_.end() ? 0 : static_cast<int64_t>(found->second.size());
}

bool Feed::ended() const {
  std::lock_guard lock(mutex_);
  return ended_;
}

Feed* FeedRegistry::Get(const std::string& table) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Feed>& feed = feeds_[table];
  if (feed == nullptr) {
    feed = std::make_unique<Feed>();
    if (ended_) feed->End();
  }
  return feed.get();
}

void FeedRegistry::EndAll() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  for (auto& [table, feed] : feeds_) feed->End();
}

void FeedRegistry::set_chunk_rows(int32_t rows) {
  std::lock_guard lock(mutex_);
  chunk_rows_ = std::clamp(rows, 1, Chunk::kMaxRows);
}

int32_t FeedRegistry::chunk_rows() const {
  std::lock_guard lock(mutex_);
  return chunk_rows_;
}

}  // namespace caudal
