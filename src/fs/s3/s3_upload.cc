#include "fs/s3/s3_upload.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/fault_point.h"
#include "fs/s3/s3_xml.h"

namespace caudal {
namespace {

constexpr size_t kPartBytes = 8 << 20;    // at least 5 MiB, but for the last
constexpr size_t kPartsOfOneSize = 1000;  // of 10,000; then they grow
constexpr int kAbsent = 404;
constexpr int kTaken = 412;

S3Request RequestFor(const char* method, const S3Place& place) {
  S3Request request;
  request.method = method;
  request.place = place;
  return request;
}

}  // namespace

std::string S3UploadTicket::ToText() const {
  return nlohmann::json{{"upload", upload}, {"mark", mark}, {"etags", etags}}.dump();
}

Result<S3UploadTicket> S3UploadTicket::FromText(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto is_text = [&](const char* name) { return json.contains(name) && json[name].is_string(); };
  bool good = json.is_object() && is_text("upload") && is_text("mark") && json.contains("etags") &&
              json["etags"].is_array();
  S3UploadTicket ticket;
  if (good) {
    ticket.upload = json["upload"];
    ticket.mark = json["mark"];
    for (const nlohmann::json& etag : json["etags"]) {
      good = good && etag.is_string();
      if (good) ticket.etags.push_back(etag);
    }
  }
  if (good) return ticket;
  return Status::Internal(fmt::format("'{}' is no ticket of an upload", text));
}

std::string NewS3Mark(Env* env) { return fmt::format("{:016x}{:016x}", env->Random(), env->Random()); }

Result<bool> HasS3Mark(S3Client* client, const S3Place& place, const std::string& mark, bool* there) {
  ASSIGN_OR_RETURN(const S3Answer found, client->Send(RequestFor("HEAD", place)));
  *there = found.ok();
  if (found.ok()) return found.header(kS3Mark) == mark;
  if (found.code == kAbsent) return false;
  return S3Client::Failure(found, "look at", place);
}

Result<PublishOutcome> CompleteS3Upload(S3Client* client, const S3Place& place, const S3UploadTicket& ticket,
                                        bool only_if_absent) {
  S3Request request = RequestFor("POST", place);
  request.query = {{"uploadId", ticket.upload}};
  if (only_if_absent) request.headers.emplace_back("If-None-Match", "*");
  request.headers.emplace_back("Content-Type", "application/xml");
  request.body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (size_t i = 0; i < ticket.etags.size(); ++i) {
    request.body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                                XmlEscaped(ticket.etags[i]));
  }
  request.body += "</CompleteMultipartUpload>";
  ASSIGN_OR_RETURN(const S3Answer answer, client->Send(request));
  if (answer.ok()) return PublishOutcome::kPublished;
  // The upload is over, or the name is taken: by this very object, if an answer was lost.
  const bool over = answer.error == "NoSuchUpload" || answer.code == kAbsent;
  if (!over && answer.code != kTaken) return S3Client::Failure(answer, "complete", place);
  if (answer.error == "NoSuchBucket") return S3Client::Failure(answer, "complete", place);
  bool there = false;
  ASSIGN_OR_RETURN(const bool ours, HasS3Mark(client, place, ticket.mark, &there));
  if (ours) return PublishOutcome::kPublished;
  return there ? PublishOutcome::kTaken : PublishOutcome::kGone;
}

Status AbortS3Upload(S3Client* client, const S3Place& place, const std::string& upload) {
  S3Request request = RequestFor("DELETE", place);
  request.query = {{"uploadId", upload}};
  ASSIGN_OR_RETURN(const S3Answer answer, client->Send(request));
  if (answer.ok() || answer.code == kAbsent) return Status();
  return S3Client::Failure(answer, "give up the upload of", place);
}

S3Upload::~S3Upload() {
  if (!closed_ && !upload_.empty()) static_cast<void>(AbortS3Upload(client_, place_, upload_).ok());
}

size_t S3Upload::part_bytes() const { return kPartBytes * (1 + etags_.size() / kPartsOfOneSize); }

Status S3Upload::Append(std::string_view bytes) {
  rest_.append(bytes);
  size_ += static_cast<int64_t>(bytes.size());
  while (rest_.size() >= std::max(part_bytes(), try_at_)) {
    Status sent = SendPart(part_bytes());
    // The caller goes on meanwhile, and a store that is away is not asked again for every row.
    try_at_ = sent.ok() ? 0 : rest_.size() + part_bytes();
    RETURN_IF_ERROR(std::move(sent));
  }
  return Status();
}

Status S3Upload::Begin() {
  if (!upload_.empty()) return Status();
  S3Request request = RequestFor("POST", place_);
  request.query = {{"uploads", ""}};
  request.headers = {{kS3Mark, mark_}, {"Content-Type", "application/octet-stream"}};
  ASSIGN_OR_RETURN(const S3Answer answer, client_->Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "begin to write", place_);
  ASSIGN_OR_RETURN(const XmlElement xml, ParseXml(answer.body));
  upload_ = xml.Text("UploadId");
  if (upload_.empty()) return Status::External("the store's answer names no upload", Retry::kBackoff);
  return Status();
}

Status S3Upload::SendPart(size_t bytes) {
  FAULT_POINT(disk_write);
  RETURN_IF_ERROR(Begin());
  S3Request request = RequestFor("PUT", place_);
  request.query = {{"partNumber", std::to_string(etags_.size() + 1)}, {"uploadId", upload_}};
  request.headers = {{"Content-Type", "application/octet-stream"}};
  request.body = rest_.substr(0, bytes);
  ASSIGN_OR_RETURN(const S3Answer answer, client_->Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "write", place_);
  const std::string etag = answer.header("etag");
  if (etag.empty()) return Status::External("the store's answer names no part", Retry::kBackoff);
  etags_.push_back(etag);
  rest_.erase(0, bytes);
  return Status();
}

Status S3Upload::PutWhole() {
  FAULT_POINT(disk_write);
  S3Request request = RequestFor("PUT", place_);
  request.headers = {{kS3Mark, mark_}, {"Content-Type", "application/octet-stream"}};
  request.body = rest_;
  ASSIGN_OR_RETURN(const S3Answer answer, client_->Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "write", place_);
  rest_.clear();
  return Status();
}

Status S3Upload::Close() {
  if (closed_) return Status();
  // What has gathered while the store was away: one request of it all might never be through in its time.
  while (rest_.size() > part_bytes()) RETURN_IF_ERROR(SendPart(part_bytes()));
  if (name_ == Name::kAtClose && upload_.empty()) {
    RETURN_IF_ERROR(PutWhole());
    closed_ = true;
    return Status();
  }
  if (!rest_.empty() || etags_.empty()) RETURN_IF_ERROR(SendPart(rest_.size()));
  if (name_ == Name::kAtClose) {
    ASSIGN_OR_RETURN(const PublishOutcome outcome,
                     CompleteS3Upload(client_, place_, {upload_, mark_, etags_}, false));
    if (outcome != PublishOutcome::kPublished) {
      return Status::External(
          fmt::format("the upload of 's3://{}/{}' was given up by somebody else", place_.bucket, place_.key));
    }
  }
  closed_ = true;
  return Status();
}

}  // namespace caudal
