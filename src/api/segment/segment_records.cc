#include "api/segment/segment_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"

namespace caudal {
namespace {

constexpr size_t kMagicSize = 8;
constexpr size_t kRecordHead = 13;  // length of the cells, operation, rows added, rows removed
constexpr char kDeleteMark = '-';
constexpr int64_t kBlockBytes = 1 << 20;

uint32_t NumberAt(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

}  // namespace

Result<SegmentRecords> SegmentRecords::OfFile(FileSystem* files, const SegmentReference& reference,
                                              bool* missing_or_damaged) {
  *missing_or_damaged = false;
  ASSIGN_OR_RETURN(const bool exists, files->Exists(reference.path));
  if (!exists) {
    *missing_or_damaged = true;
    return Status::Data(fmt::format("segment '{}' is gone", reference.path));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, files->Open(reference.path));
  SegmentRecords records(std::move(file), reference);
  bool whole = records.file_->size() == reference.size;
  if (whole) {
    ASSIGN_OR_RETURN(const uint32_t checksum, records.Checksum());
    whole = checksum == reference.checksum;
  }
  if (whole) return records;
  *missing_or_damaged = true;
  return records.Damaged();
}

Result<uint32_t> SegmentRecords::Checksum() {
  uint32_t checksum = 0;
  for (int64_t at = 0; at < reference_->size;) {
    ASSIGN_OR_RETURN(const MutableBufferPtr block, file_->Read(at, kBlockBytes));
    if (block->size() == 0) return Damaged();
    checksum = Crc32c(block->view(), checksum);
    at += static_cast<int64_t>(block->size());
    if (at < reference_->size || at > static_cast<int64_t>(block->size())) continue;
    block_ = block->view();
    next_ = at;
  }
  return checksum;
}

Status SegmentRecords::Damaged() const {
  return Status::Data(fmt::format("segment '{}' is damaged", reference_->path));
}

Result<bool> SegmentRecords::Need(size_t count) {
  if (block_.size() - at_ >= count) return true;
  if (file_ == nullptr) return false;
  const size_t missing = count - (block_.size() - at_);
  if (static_cast<int64_t>(missing) > reference_->size - next_) return false;
  block_.erase(0, at_);
  at_ = 0;
  while (block_.size() < count) {
    const auto length = std::max(kBlockBytes, static_cast<int64_t>(count - block_.size()));
    ASSIGN_OR_RETURN(const MutableBufferPtr block, file_->Read(next_, length));
    if (block->size() == 0) return false;
    block_ += block->view();
    next_ += static_cast<int64_t>(block->size());
  }
  return true;
}

Status SegmentRecords::Open(std::string_view magic) {
  ASSIGN_OR_RETURN(bool there, Need(kMagicSize + 4));
  if (!there || !block_.starts_with(magic)) return Damaged();
  const size_t size = NumberAt(block_, kMagicSize);
  at_ = kMagicSize + 4;
  ASSIGN_OR_RETURN(there, Need(size));
  if (!there) return Damaged();
  header_ = block_.substr(at_, size);
  at_ += size;
  return Status();
}

Result<bool> SegmentRecords::Next(SegmentRecord* record) {
  if (read_ == reference_->records) {
    ASSIGN_OR_RETURN(const bool more, Need(1));
    if (more) return Damaged();
    return false;
  }
  ASSIGN_OR_RETURN(bool there, Need(kRecordHead));
  if (!there) return Damaged();
  const size_t size = NumberAt(block_, at_);
  ASSIGN_OR_RETURN(there, Need(kRecordHead + size));
  if (!there) return Damaged();
  record->is_delete = block_[at_ + 4] == kDeleteMark;
  record->cells = std::string_view(block_).substr(at_ + kRecordHead, size);
  at_ += kRecordHead + size;
  ++read_;
  return true;
}

}  // namespace caudal
