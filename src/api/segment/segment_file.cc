#include "api/segment/segment_file.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr size_t kMagicSize = 8;
constexpr size_t kRecordHead = 13;  // length of the cells, operation, rows added, rows removed
constexpr char kUpsert = '+';
constexpr char kDelete = '-';
constexpr size_t kWriteBytes = 1 << 20;

void PutNumber(uint32_t value, std::string* out) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out->append(bytes, 4);
}

uint32_t NumberAt(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

}  // namespace

std::string SegmentForm::file_prefix() const {
  // Table names may hold characters that file names may not.
  std::string prefix = connector + "-";
  for (const char c : declared) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    prefix += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return prefix + "-";
}

std::string EmptySegment(const SegmentForm& form) {
  std::string bytes = form.magic;
  PutNumber(static_cast<uint32_t>(form.header.size()), &bytes);
  return bytes + form.header;
}

Result<Committable> WriteSegment(FileSystem* files, const std::string& path, const SegmentForm& form,
                                 const EpochRows& rows) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files->Create(path));
  Committable committable;
  uint32_t checksum = 0;
  std::string bytes = EmptySegment(form);
  const auto flush = [&]() -> Status {
    checksum = Crc32c(bytes, checksum);
    RETURN_IF_ERROR(file->Append(bytes));
    bytes.clear();
    return Status();
  };
  for (const EpochRows::Row* row : rows.Ordered()) {
    PutNumber(row->cells_size, &bytes);
    bytes += row->is_delete ? kDelete : kUpsert;
    PutNumber(row->added, &bytes);
    PutNumber(row->removed, &bytes);
    bytes += rows.cells(*row);
    committable.rows_added += row->added;
    committable.rows_removed += row->removed;
    if (bytes.size() >= kWriteBytes) RETURN_IF_ERROR(flush());
  }
  RETURN_IF_ERROR(flush());
  committable.bytes = file->size();
  RETURN_IF_ERROR(file->Close());
  committable.payload = Json{
      {"path", path},
      {"target", form.origin},
      {"size", committable.bytes},
      {"crc32c", checksum},
      {"records",
       rows.size()}}.dump();
  return committable;
}

Result<SegmentReference> SegmentReference::Parse(const SegmentForm& form, std::string_view payload) {
  const Json json = Json::parse(payload, nullptr, false);
  const auto number = [&json](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number_integer();
  };
  if (!number("size") || !number("crc32c") || !number("records") || !json.contains("path") ||
      !json["path"].is_string()) {
    return Status::Data(fmt::format("'{}' is no committable of connector '{}'", payload, form.connector));
  }
  return SegmentReference{json["path"], json.value("target", ""), json["size"], json["crc32c"],
                          json["records"]};
}

Status SegmentReference::CheckTarget(const SegmentForm& form, std::string_view options) const {
  if (target.empty() || target == form.origin || target == form.former_origin) return Status();
  return Status::User(fmt::format("its rows were prepared for '{}', and table '{}' is '{}' now", target,
                                  form.declared, form.origin))
      .Hint(fmt::format("give the table its former {} back, or begin with a new state folder", options));
}

Result<std::string> ReadSegment(FileSystem* files, const SegmentReference& reference,
                                bool* missing_or_damaged) {
  *missing_or_damaged = false;
  ASSIGN_OR_RETURN(const bool exists, files->Exists(reference.path));
  if (!exists) {
    *missing_or_damaged = true;
    return Status::Data(fmt::format("segment '{}' is gone", reference.path));
  }
  ASSIGN_OR_RETURN(std::string bytes, files->ReadAll(reference.path));
  if (static_cast<int64_t>(bytes.size()) != reference.size || Crc32c(bytes) != reference.checksum) {
    *missing_or_damaged = true;
    return SegmentRecords(bytes, reference).Damaged();
  }
  return bytes;
}

void RemoveSegments(FileSystem* files, const SegmentForm& form, std::span<const Committable> committables) {
  for (const Committable& committable : committables) {
    const Result<SegmentReference> reference = SegmentReference::Parse(form, committable.payload);
    if (reference.ok()) static_cast<void>(files->Remove(reference->path).ok());
  }
}

Status RemoveAllSegments(FileSystem* files, const std::string& folder, const SegmentForm& form) {
  const std::string prefix = form.file_prefix();
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files->List(folder));
  for (const FileInfo& entry : entries) {
    if (std::filesystem::path(entry.path).filename().string().starts_with(prefix)) {
      RETURN_IF_ERROR(files->Remove(entry.path));
    }
  }
  return Status();
}

Status SegmentRecords::Damaged() const {
  return Status::Data(fmt::format("segment '{}' is damaged", reference_->path));
}

Status SegmentRecords::Open(std::string_view magic) {
  if (!segment_.starts_with(magic) || segment_.size() < kMagicSize + 4) return Damaged();
  const size_t size = NumberAt(segment_, kMagicSize);
  at_ = kMagicSize + 4;
  if (segment_.size() - at_ < size) return Damaged();
  header_ = segment_.substr(at_, size);
  at_ += size;
  return Status();
}

Result<bool> SegmentRecords::Next(SegmentRecord* record) {
  if (read_ == reference_->records) {
    if (at_ != segment_.size()) return Damaged();
    return false;
  }
  if (segment_.size() - at_ < kRecordHead) return Damaged();
  const size_t size = NumberAt(segment_, at_);
  record->is_delete = segment_[at_ + 4] == kDelete;
  at_ += kRecordHead;
  if (segment_.size() - at_ < size) return Damaged();
  record->cells = segment_.substr(at_, size);
  at_ += size;
  ++read_;
  return true;
}

}  // namespace caudal
