// S3Object: an object that is read in ranges, always the one that it was when it was opened.
//
// Any thread; blocks. Who reads on where he stopped gets the next bytes out of memory.
#pragma once

#include <mutex>
#include <string>

#include "fs/file_system.h"
#include "fs/s3/s3_client.h"

namespace caudal {

class S3Object : public RandomAccessFile {
 public:
  // `etag`: of the object as it is to be read.
  S3Object(S3Client* client, S3Place place, int64_t size, std::string etag)
      : client_(client), place_(std::move(place)), size_(size), etag_(std::move(etag)) {}

  Result<MutableBufferPtr> Read(int64_t offset, int64_t length) override;
  int64_t size() const override { return size_; }

 private:
  Result<std::string> Fetch(int64_t offset, int64_t length);

  S3Client* client_;
  S3Place place_;
  int64_t size_;
  std::string etag_;
  std::mutex mutex_;
  int64_t ahead_at_ = 0;  // where ahead_ begins
  std::string ahead_;     // read, and not yet asked for
  int64_t next_ = 0;      // where the last read ended
};

}  // namespace caudal
