// S3Upload: one object while it is written: a put if it is small, else a multipart upload.
//
// One thread at a time; blocks. Every upload carries a mark of its own in the object's metadata, so that
// whoever lost an answer can look whose object it is. What fails is kept and tried again at the next call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fs/pending_files.h"
#include "fs/s3/s3_client.h"

namespace caudal {

inline constexpr const char* kS3Mark = "x-amz-meta-caudal-mark";

// What it takes to complete an upload, as a ticket has it.
struct S3UploadTicket {
  std::string upload;
  std::string mark;
  std::vector<std::string> etags;  // of the parts, in order

  std::string ToText() const;
  static Result<S3UploadTicket> FromText(const std::string& text);
};

// 32 hexadecimal digits.
std::string NewS3Mark(Env* env);

// Whether the object has this mark. `*there`: whether there is one.
Result<bool> HasS3Mark(S3Client* client, const S3Place& place, const std::string& mark, bool* there);

Result<PublishOutcome> CompleteS3Upload(S3Client* client, const S3Place& place, const S3UploadTicket& ticket,
                                        bool only_if_absent);
Status AbortS3Upload(S3Client* client, const S3Place& place, const std::string& upload);

class S3Upload : public PendingFile {
 public:
  enum class Name : uint8_t { kAtClose, kAtPublish };
  S3Upload(S3Client* client, S3Place place, Name name)
      : client_(client), place_(std::move(place)), name_(name), mark_(NewS3Mark(client->env())) {}
  ~S3Upload() override;

  Status Append(std::string_view bytes) override;
  // A store makes nothing durable but whole parts and whole objects: Close does.
  Status Sync() override { return Status(); }
  Status Close() override;
  int64_t size() const override { return size_; }
  int64_t unwritten() const override { return static_cast<int64_t>(rest_.size()); }
  std::string ticket() const override { return S3UploadTicket{upload_, mark_, etags_}.ToText(); }

 private:
  size_t part_bytes() const;
  Status Begin();
  Status SendPart(size_t bytes);
  Status PutWhole();

  S3Client* client_;
  S3Place place_;
  Name name_;
  std::string mark_;
  std::string upload_;  // empty: not begun
  std::vector<std::string> etags_;
  std::string rest_;   // not yet sent
  size_t try_at_ = 0;  // after a failure: not before there is so much
  int64_t size_ = 0;
  bool closed_ = false;
};

}  // namespace caudal
