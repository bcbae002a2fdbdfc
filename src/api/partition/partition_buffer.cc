#include "api/partition/partition_buffer.h"

#include <algorithm>

namespace caudal {
namespace {

constexpr uint32_t kRowsOfChunk = Chunk::kMaxRows;

int64_t BytesOf(const Chunk& chunk) {
  return static_cast<int64_t>(chunk.RetainedBytes() + static_cast<size_t>(chunk.size()) * sizeof(uint32_t));
}

}  // namespace

Status PartitionBuffer::Rows::ForEach(const Partition& partition, const Append& append) const {
  const std::vector<uint32_t>& places = partition.places;
  std::vector<uint16_t> rows;
  for (size_t i = 0; i < places.size();) {
    const uint32_t chunk = places[i] / kRowsOfChunk;
    rows.clear();
    for (; i < places.size() && places[i] / kRowsOfChunk == chunk; ++i) {
      rows.push_back(static_cast<uint16_t>(places[i] % kRowsOfChunk));
    }
    RETURN_IF_ERROR(append(chunks[chunk].columns(), {rows.data(), static_cast<int32_t>(rows.size())}));
  }
  return Status();
}

void PartitionBuffer::Add(const std::vector<ColumnPtr>& content,
                          const std::vector<const PartitionShare*>& shares) {
  auto* selection = new Selection();
  for (const PartitionShare* share : shares) {
    selection->rows.insert(selection->rows.end(), share->rows.begin(), share->rows.end());
  }
  const SelectionPtr selected(selection);
  Chunk chunk = Chunk(content, content[0]->size(), selected).Compact();
  const int64_t bytes = BytesOf(chunk);
  uint32_t place = static_cast<uint32_t>(chunks_.size()) * kRowsOfChunk;
  for (const PartitionShare* share : shares) {
    Partition& partition = partitions_[share->folder];
    partition.folder = share->folder;
    for (size_t i = 0; i < share->rows.size(); ++i) partition.places.push_back(place++);
    partition.bytes += std::max<int64_t>(1, bytes * static_cast<int64_t>(share->rows.size()) / chunk.size());
  }
  bytes_ += bytes;
  chunks_.push_back(std::move(chunk));
}

int64_t PartitionBuffer::bytes_of(const std::string& folder) const {
  const auto found = partitions_.find(folder);
  return found == partitions_.end() ? 0 : found->second.bytes;
}

PartitionBuffer::Rows PartitionBuffer::Take(const std::string& folder) {
  const auto found = partitions_.find(folder);
  std::vector<Partition> taken;
  if (found != partitions_.end()) {
    taken.push_back(std::move(found->second));
    partitions_.erase(found);
  }
  return Split(std::move(taken));
}

PartitionBuffer::Rows PartitionBuffer::TakeLargest() {
  std::vector<Partition*> by_size;
  int64_t all = 0;
  for (auto& [folder, partition] : partitions_) {
    by_size.push_back(&partition);
    all += partition.bytes;
  }
  // By name among equals, so that the same rows give the same files.
  std::sort(by_size.begin(), by_size.end(), [](const Partition* a, const Partition* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->folder < b->folder;
  });
  std::vector<Partition> taken;
  int64_t bytes = 0;
  for (Partition* partition : by_size) {
    if (bytes * 2 >= all) break;
    bytes += partition->bytes;
    taken.push_back(std::move(*partition));
    partition->places.clear();
  }
  std::erase_if(partitions_, [](const auto& entry) { return entry.second.places.empty(); });
  return Split(std::move(taken));
}

PartitionBuffer::Rows PartitionBuffer::TakeAll() {
  Rows rows;
  rows.chunks = std::exchange(chunks_, {});
  rows.bytes = std::exchange(bytes_, 0);
  for (auto& [folder, partition] : partitions_) rows.partitions.push_back(std::move(partition));
  partitions_.clear();
  std::sort(rows.partitions.begin(), rows.partitions.end(), [](const Partition& a, const Partition& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.folder < b.folder;
  });
  return rows;
}

PartitionBuffer::Rows PartitionBuffer::Split(std::vector<Partition> taken) {
  Rows rows;
  rows.partitions = std::move(taken);
  rows.bytes = bytes_;
  rows.chunks = std::exchange(chunks_, {});
  bytes_ = 0;
  if (partitions_.empty()) return rows;

  // What stays is copied out of each chunk, in the order of the chunk.
  std::vector<std::vector<uint16_t>> staying(rows.chunks.size());
  for (auto& [folder, partition] : partitions_) {
    for (const uint32_t place : partition.places) {
      staying[place / kRowsOfChunk].push_back(static_cast<uint16_t>(place % kRowsOfChunk));
    }
  }
  std::vector<uint32_t> new_chunk(rows.chunks.size());
  std::vector<std::vector<uint16_t>> new_row(rows.chunks.size());
  for (size_t i = 0; i < rows.chunks.size(); ++i) {
    if (staying[i].empty()) continue;
    std::sort(staying[i].begin(), staying[i].end());
    new_row[i].resize(kRowsOfChunk);
    for (size_t row = 0; row < staying[i].size(); ++row) {
      new_row[i][staying[i][row]] = static_cast<uint16_t>(row);
    }
    auto* selection = new Selection();
    selection->rows = std::move(staying[i]);
    new_chunk[i] = static_cast<uint32_t>(chunks_.size());
    chunks_.push_back(rows.chunks[i].WithSelection(SelectionPtr(selection)).Compact());
    bytes_ += BytesOf(chunks_.back());
  }
  for (auto& [folder, partition] : partitions_) {
    for (uint32_t& place : partition.places) {
      const uint32_t chunk = place / kRowsOfChunk;
      place = new_chunk[chunk] * kRowsOfChunk + new_row[chunk][place % kRowsOfChunk];
    }
  }
  return rows;
}

}  // namespace caudal
