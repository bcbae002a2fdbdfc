#include "api/segment/segment_file.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr char kUpsert = '+';
constexpr char kDelete = '-';
constexpr size_t kWriteBytes = 1 << 20;

void PutNumber(uint32_t value, std::string* out) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out->append(bytes, 4);
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
      !json["path"].is_string() || (json.contains("target") && !json["target"].is_string())) {
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

}  // namespace caudal
