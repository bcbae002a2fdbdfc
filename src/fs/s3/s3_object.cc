#include "fs/s3/s3_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace caudal {
namespace {

constexpr int64_t kAheadBytes = 4 << 20;
constexpr int kReplaced = 412;

}  // namespace

Result<std::string> S3Object::Fetch(int64_t offset, int64_t length) {
  S3Request request;
  request.place = place_;
  request.headers.emplace_back("Range", fmt::format("bytes={}-{}", offset, offset + length - 1));
  if (!etag_.empty()) request.headers.emplace_back("If-Match", etag_);
  ASSIGN_OR_RETURN(S3Answer answer, client_->Send(request));
  if (answer.code == kReplaced || answer.code == 404) {
    return Status::Data(fmt::format("'s3://{}/{}' was {} while it was read", place_.bucket, place_.key,
                                    answer.code == kReplaced ? "replaced" : "removed"));
  }
  if (!answer.ok()) return S3Client::Failure(answer, "read", place_);
  const auto got = static_cast<int64_t>(answer.body.size());
  // Whoever knows no ranges gives it all.
  if (answer.code == 200 && got == size_ && got != length)
    return answer.body.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
  if (got == length) return std::move(answer.body);
  return Status::External(fmt::format("the store gives {} bytes of 's3://{}/{}' where {} were asked for", got,
                                      place_.bucket, place_.key, length),
                          Retry::kBackoff);
}

Result<MutableBufferPtr> S3Object::Read(int64_t offset, int64_t length) {
  length = std::max<int64_t>(0, std::min(length, size_ - offset));
  MutableBufferPtr buffer = Buffer::Allocate(static_cast<size_t>(length));
  if (length == 0) return buffer;
  const std::lock_guard lock(mutex_);
  const auto copy = [&] {
    std::memcpy(buffer->mutable_data(), ahead_.data() + (offset - ahead_at_), static_cast<size_t>(length));
    next_ = offset + length;
    return buffer;
  };
  const auto is_ahead = [&] {
    return offset >= ahead_at_ && offset + length <= ahead_at_ + static_cast<int64_t>(ahead_.size());
  };
  if (is_ahead()) return copy();
  // One who goes through from the start, not one who picks.
  const bool on = offset == next_ && length < kAheadBytes;
  ASSIGN_OR_RETURN(ahead_, Fetch(offset, on ? std::min(kAheadBytes, size_ - offset) : length));
  ahead_at_ = offset;
  copy();
  if (!on) ahead_.clear();
  return buffer;
}

}  // namespace caudal
