#include "fs/s3/s3_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>

#include "base/crc32c.h"
#include "base/fault_point.h"
#include "fs/s3/s3_object.h"
#include "fs/s3/s3_upload.h"
#include "fs/s3/s3_xml.h"

namespace caudal {
namespace {

constexpr int kNotThere = 404;
constexpr int kNameTaken = 412;
constexpr const char* kChecksum = "x-amz-checksum-crc32c";

int64_t NumberIn(const std::string& text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "Sun, 01 Mar 2026 12:00:00 GMT" as microseconds; 0 if it is none.
int64_t HttpDateMicros(const std::string& text) {
  std::tm time = {};
  const char* rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S", &time);
  return rest == nullptr ? 0 : static_cast<int64_t>(timegm(&time)) * 1'000'000;
}

// FNV-1a; never 0.
uint64_t IdentityOf(std::string_view etag) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : etag) {
    if (c != '"') hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash | 1;
}

// "a%20b+c" as "a b c".
std::string UrlDecoded(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ec == std::errc()) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string Base64Of(uint32_t crc) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint64_t bits = static_cast<uint64_t>(crc) << 16;
  std::string text;
  for (int i = 0; i < 6; ++i) text += kDigits[bits >> (42 - 6 * i) & 63];
  return text + "==";
}

// "s3://bucket" of the path, with a '/'; keys are put behind it as they are.
std::string RootOf(const std::string& path) {
  return path.substr(0, path.find('/', path.find("://") + 3)) + "/";
}

S3Place FolderPlace(S3Place place) {
  if (!place.key.empty() && !place.key.ends_with('/')) place.key += '/';
  return place;
}

S3Request BucketRequest(const S3Place& place) {
  S3Request request;
  request.place.bucket = place.bucket;
  return request;
}

}  // namespace

Result<std::unique_ptr<WritableFile>> S3FileSystem::Create(const std::string& path) {
  ASSIGN_OR_RETURN(S3Place place, ParseS3Path(path));
  return std::unique_ptr<WritableFile>(new S3Upload(&client_, std::move(place), S3Upload::Name::kAtClose));
}

Result<bool> S3FileSystem::CreateIfAbsent(const std::string& path, std::string_view bytes) {
  FAULT_POINT(disk_write);
  S3Request request;
  ASSIGN_OR_RETURN(request.place, ParseS3Path(path));
  RETURN_IF_ERROR(CheckConditions(request.place));
  const std::string mark = NewS3Mark(client_.env());
  request.method = "PUT";
  request.headers = {{"If-None-Match", "*"},
                     {kS3Mark, mark},
                     {kChecksum, Base64Of(Crc32c(bytes))},
                     {"Content-Type", "application/octet-stream"}};
  request.body = bytes;
  Result<S3Answer> answer = client_.Send(request);
  if (answer.ok() && answer->ok()) return true;
  if (answer.ok() && answer->code != kNameTaken) return S3Client::Failure(*answer, "create", request.place);
  // Whether it was this writer that took the name, before an answer was lost, the mark tells. Nobody else
  // can: a connection that closes makes libcurl say a request again, unseen.
  bool there = false;
  ASSIGN_OR_RETURN(const bool ours, HasS3Mark(&client_, request.place, mark, &there));
  if (there) return ours;
  return answer.ok() ? S3Client::Failure(*answer, "create", request.place) : std::move(answer).status();
}

// Where the header means nothing, each start would overwrite the identity of its state, and two engines could
// both have one generation.
Status S3FileSystem::CheckConditions(const S3Place& place) {
  {
    const std::lock_guard lock(mutex_);
    if (conditional_.contains(place.bucket)) return Status();
  }
  S3Request request;
  request.method = "PUT";
  const size_t folder = place.key.rfind('/') + 1;  // 0 if there is none
  request.place = {place.bucket,
                   fmt::format("{}.probe-{}.tmp", place.key.substr(0, folder), NewS3Mark(client_.env()))};
  request.headers = {{"If-None-Match", "*"}, {"Content-Type", "application/octet-stream"}};
  bool refused = false;
  // The first may be refused, too, if its answer was lost and it was said again.
  for (int i = 0; i < 2 && !refused; ++i) {
    ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
    refused = answer.code == kNameTaken;
    if (!refused && !answer.ok()) return S3Client::Failure(answer, "create", request.place);
  }
  request.method = "DELETE";
  request.headers.clear();
  static_cast<void>(client_.Send(request).ok());  // what stays is empty
  if (!refused) {
    return Status::User(
               fmt::format("the store of 's3://{}' overwrites what 'If-None-Match' protects", place.bucket))
        .Hint("take a store that knows the header, or a newer release of this one (docs/object-stores.md)");
  }
  const std::lock_guard lock(mutex_);
  conditional_.insert(place.bucket);
  return Status();
}

Result<std::optional<FileInfo>> S3FileSystem::Head(const S3Place& place, const std::string& path) {
  if (place.key.empty() || place.key.ends_with('/')) return std::optional<FileInfo>();
  S3Request request;
  request.method = "HEAD";
  request.place = place;
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  if (answer.code == kNotThere) return std::optional<FileInfo>();
  if (!answer.ok()) return S3Client::Failure(answer, "look at", place);
  FileInfo file;
  file.path = path;
  file.size = NumberIn(answer.header("content-length"));
  file.modified_micros = HttpDateMicros(answer.header("last-modified"));
  file.changed_micros = file.modified_micros;
  file.identity = IdentityOf(answer.header("etag"));
  return std::optional(file);
}

Result<std::unique_ptr<RandomAccessFile>> S3FileSystem::Open(const std::string& path) {
  S3Request request;
  request.method = "HEAD";
  ASSIGN_OR_RETURN(request.place, ParseS3Path(path));
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "open", request.place);
  return std::unique_ptr<RandomAccessFile>(new S3Object(
      &client_, request.place, NumberIn(answer.header("content-length")), answer.header("etag")));
}

Result<std::string> S3FileSystem::ReadAll(const std::string& path) {
  S3Request request;
  ASSIGN_OR_RETURN(request.place, ParseS3Path(path));
  request.headers = {{"x-amz-checksum-mode", "ENABLED"}};
  ASSIGN_OR_RETURN(S3Answer answer, client_.Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "read", request.place);
  const std::string checksum = answer.header(kChecksum);
  // Of an upload in parts it is one of the parts' checksums.
  const bool whole = !checksum.empty() && checksum.find('-') == std::string::npos;
  if (whole && checksum != Base64Of(Crc32c(answer.body))) {
    return Status::External(
        fmt::format("what the store gives of '{}' has another checksum than was stored", path),
        Retry::kBackoff);
  }
  return std::move(answer.body);
}

Status S3FileSystem::Copy(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const S3Place source, ParseS3Path(from));
  S3Request request;
  ASSIGN_OR_RETURN(request.place, ParseS3Path(to));
  request.method = "PUT";
  std::string encoded = source.bucket;
  for (size_t begin = 0; begin <= source.key.size();) {
    const size_t end = std::min(source.key.find('/', begin), source.key.size());
    encoded += "/" + UrlEncoded(std::string_view(source.key).substr(begin, end - begin));
    begin = end + 1;
  }
  request.headers = {{"x-amz-copy-source", "/" + encoded}};
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  return answer.ok() ? Status() : S3Client::Failure(answer, "copy '" + from + "' to", request.place);
}

Status S3FileSystem::Rename(const std::string& from, const std::string& to) {
  FAULT_POINT(disk_rename);
  if (from == to) return Status();
  RETURN_IF_ERROR(Copy(from, to));
  return Remove(from);
}

// Two that rename to one name at the same time may both be told that they did: who needs to know which is
// first creates the file, or publishes it.
Result<bool> S3FileSystem::RenameIfAbsent(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const S3Place place, ParseS3Path(to));
  ASSIGN_OR_RETURN(const std::optional<FileInfo> taken, Head(place, to));
  if (taken) return false;
  RETURN_IF_ERROR(Rename(from, to));
  return true;
}

Status S3FileSystem::Remove(const std::string& path) {
  S3Request request;
  ASSIGN_OR_RETURN(request.place, ParseS3Path(path));
  request.method = "DELETE";
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  if (answer.ok() || answer.code == kNotThere) return Status();
  return S3Client::Failure(answer, "remove", request.place);
}

Status S3FileSystem::MakeDirectories(const std::string& path) { return ParseS3Path(path).status(); }

Status S3FileSystem::ListPage(const S3Place& folder, const std::string& path, std::string* next,
                              std::vector<FileInfo>* files) {
  S3Request request = BucketRequest(folder);
  request.query = {{"list-type", "2"}, {"prefix", folder.key}, {"delimiter", "/"}, {"encoding-type", "url"}};
  if (!next->empty()) request.query.emplace_back("continuation-token", *next);
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "list", folder);
  ASSIGN_OR_RETURN(const XmlElement xml, ParseXml(answer.body));
  const bool encoded = xml.Text("EncodingType") == "url";
  const std::string root = RootOf(path);
  const auto key_of = [&](const std::string& text) { return encoded ? UrlDecoded(text) : text; };
  for (const XmlElement& entry : xml.children) {
    FileInfo file;
    if (entry.name == "Contents") {
      const std::string key = key_of(entry.Text("Key"));
      if (key == folder.key) continue;  // an object that stands for the folder
      file.path = root + key;
      file.size = NumberIn(entry.Text("Size"));
      // To the second, as a look at the file has it: else each file would have changed.
      file.modified_micros = ParseS3Time(entry.Text("LastModified")) / 1000 * 1'000'000;
      file.changed_micros = file.modified_micros;
      file.identity = IdentityOf(entry.Text("ETag"));
    } else if (entry.name == "CommonPrefixes") {
      std::string key = key_of(entry.Text("Prefix"));
      if (key.ends_with('/')) key.pop_back();
      file.path = root + key;
      file.is_directory = true;
    } else {
      continue;
    }
    files->push_back(std::move(file));
  }
  const bool more = xml.Text("IsTruncated") == "true";
  *next = more ? xml.Text("NextContinuationToken") : "";
  if (more && next->empty()) return Status::External("the store's list breaks off", Retry::kBackoff);
  return Status();
}

Result<std::vector<FileInfo>> S3FileSystem::List(const std::string& path) {
  ASSIGN_OR_RETURN(const S3Place parsed, ParseS3Path(path));
  const S3Place folder = FolderPlace(parsed);
  std::vector<FileInfo> files;
  std::string next;
  do {
    RETURN_IF_ERROR(ListPage(folder, path, &next, &files));
  } while (!next.empty());
  std::ranges::sort(files, {}, &FileInfo::path);
  return files;
}

Result<bool> S3FileSystem::IsFolder(const S3Place& place) {
  S3Request request = BucketRequest(place);
  request.query = {{"list-type", "2"}, {"prefix", FolderPlace(place).key}, {"max-keys", "1"}};
  ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  if (!answer.ok()) return S3Client::Failure(answer, "list", place);
  ASSIGN_OR_RETURN(const XmlElement xml, ParseXml(answer.body));
  return place.key.empty() || xml.Find("Contents") != nullptr;
}

Result<FileInfo> S3FileSystem::Stat(const std::string& path) {
  ASSIGN_OR_RETURN(const S3Place place, ParseS3Path(path));
  ASSIGN_OR_RETURN(std::optional<FileInfo> file, Head(place, path));
  if (file) return *std::move(file);
  ASSIGN_OR_RETURN(const bool is_folder, IsFolder(place));
  if (!is_folder) {
    S3Answer missing;
    missing.code = kNotThere;
    return S3Client::Failure(missing, "look at", place);
  }
  FileInfo folder;
  folder.path = path;
  folder.is_directory = true;
  return folder;
}

Result<bool> S3FileSystem::Exists(const std::string& path) {
  ASSIGN_OR_RETURN(const S3Place place, ParseS3Path(path));
  ASSIGN_OR_RETURN(const std::optional<FileInfo> file, Head(place, path));
  if (file) return true;
  return IsFolder(place);
}

// A put is seen whole or not at all.
Status S3FileSystem::Replace(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, Create(path));
  RETURN_IF_ERROR(file->Append(bytes));
  return file->Close();
}

Result<std::unique_ptr<PendingFile>> S3FileSystem::Begin(const std::string& path) {
  ASSIGN_OR_RETURN(S3Place place, ParseS3Path(path));
  return std::unique_ptr<PendingFile>(new S3Upload(&client_, std::move(place), S3Upload::Name::kAtPublish));
}

Result<PublishOutcome> S3FileSystem::Publish(const std::string& path, const std::string& ticket) {
  FAULT_POINT(disk_rename);
  ASSIGN_OR_RETURN(const S3Place place, ParseS3Path(path));
  ASSIGN_OR_RETURN(const S3UploadTicket parsed, S3UploadTicket::FromText(ticket));
  return CompleteS3Upload(&client_, place, parsed, true);
}

Result<std::vector<UnpublishedFile>> S3FileSystem::ListUnpublished(const std::string& folder) {
  ASSIGN_OR_RETURN(const S3Place parsed, ParseS3Path(folder));
  const S3Place place = FolderPlace(parsed);
  const std::string root = RootOf(folder);
  std::vector<UnpublishedFile> found;
  for (std::string key, upload;;) {
    S3Request request = BucketRequest(place);
    request.query = {{"uploads", ""}, {"prefix", place.key}};
    if (!key.empty()) request.query.emplace_back("key-marker", key);
    if (!upload.empty()) request.query.emplace_back("upload-id-marker", upload);
    ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
    if (!answer.ok()) return S3Client::Failure(answer, "list the uploads of", place);
    ASSIGN_OR_RETURN(const XmlElement xml, ParseXml(answer.body));
    for (const XmlElement& entry : xml.children) {
      // A store may pass over the prefix.
      if (entry.name == "Upload" && entry.Text("Key").starts_with(place.key))
        found.push_back({root + entry.Text("Key"), entry.Text("UploadId")});
    }
    std::string next_key = xml.Text("NextKeyMarker"), next_upload = xml.Text("NextUploadIdMarker");
    const bool same = next_key == key && next_upload == upload;
    if (xml.Text("IsTruncated") != "true" || same) return found;
    key = std::move(next_key);
    upload = std::move(next_upload);
  }
}

Status S3FileSystem::Abort(const UnpublishedFile& file) {
  ASSIGN_OR_RETURN(const S3Place place, ParseS3Path(file.path));
  return AbortS3Upload(&client_, place, file.handle);
}

}  // namespace caudal
