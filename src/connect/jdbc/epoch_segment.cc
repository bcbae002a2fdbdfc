#include "connect/jdbc/epoch_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "connect/jdbc/cell.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "CDLJDBC1";
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

std::string Header(const JdbcTarget& target) {
  Json columns = Json::array(), key = Json::array();
  for (const Field& field : target.columns.fields) columns.push_back(field.name);
  for (const int column : target.key) key.push_back(target.columns[column].name);
  return Json{{"table", target.table}, {"columns", columns}, {"key", key}}.dump();
}

Status Damaged(const SegmentReference& reference) {
  return Status::Data(fmt::format("segment '{}' is damaged", reference.path));
}

struct Statements {
  std::string upsert;
  std::string remove;
};

Statements MakeStatements(const Json& header) {
  std::string names, marks, updates, key, where;
  const auto& keys = header.at("key");
  for (const auto& column : header.at("columns")) {
    const std::string name = QuoteSqliteName(column.get<std::string>());
    names += (names.empty() ? "" : ", ") + name;
    marks += marks.empty() ? "?" : ", ?";
    if (std::find(keys.begin(), keys.end(), column) != keys.end()) continue;
    updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", name, name);
  }
  for (const auto& column : keys) {
    const std::string name = QuoteSqliteName(column.get<std::string>());
    key += (key.empty() ? "" : ", ") + name;
    where += fmt::format("{}{} = ?", where.empty() ? "" : " AND ", name);
  }
  const std::string table = QuoteSqliteName(header.at("table").get<std::string>());
  Statements statements;
  statements.upsert = fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, marks);
  if (!key.empty()) {
    statements.upsert +=
        fmt::format(" ON CONFLICT ({}) DO {}", key, updates.empty() ? "NOTHING" : "UPDATE SET " + updates);
    statements.remove = fmt::format("DELETE FROM {} WHERE {}", table, where);
  }
  return statements;
}

// Runs the records that stand from `at` on.
Status ApplyRecords(std::string_view segment, size_t at, const Json& header,
                    const SegmentReference& reference, Sqlite* database) {
  const Statements sql = MakeStatements(header);
  const int columns = static_cast<int>(header.at("columns").size());
  const int keys = static_cast<int>(header.at("key").size());
  ASSIGN_OR_RETURN(SqliteStatement upsert, database->Prepare(sql.upsert));
  ASSIGN_OR_RETURN(SqliteStatement remove, database->Prepare(keys > 0 ? sql.remove : "SELECT 1"));
  for (int64_t record = 0; record < reference.records; ++record) {
    if (segment.size() - at < kRecordHead) return Damaged(reference);
    const size_t end = at + kRecordHead + NumberAt(segment, at);
    const bool is_delete = segment[at + 4] == kDelete;
    if (end > segment.size() || (is_delete && keys == 0)) return Damaged(reference);
    at += kRecordHead;
    SqliteStatement& statement = is_delete ? remove : upsert;
    for (int i = 0; i < (is_delete ? keys : columns); ++i) {
      if (!BindCell(segment.substr(0, end), &at, i, &statement)) return Damaged(reference);
    }
    if (at != end) return Damaged(reference);
    RETURN_IF_ERROR(statement.Run());
    // The acknowledgement: a trigger may have thrown the row away.
    if (!is_delete && keys < columns && database->changes() != 1) {
      return Status::Data(fmt::format("table '{}' did not take row {} of {}",
                                      header.at("table").get<std::string>(), record + 1, reference.records))
          .Hint("look for a trigger that ignores rows: every row that is given must be kept");
    }
  }
  return at == segment.size() ? Status() : Damaged(reference);
}

}  // namespace

std::string EmptySegment(const JdbcTarget& target) {
  const std::string header = Header(target);
  std::string bytes(kMagic);
  PutNumber(static_cast<uint32_t>(header.size()), &bytes);
  return bytes + header;
}

Result<Committable> WriteSegment(FileSystem* files, const std::string& path, const JdbcTarget& target,
                                 const EpochRows& rows) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, files->Create(path));
  Committable committable;
  uint32_t checksum = 0;
  std::string bytes = EmptySegment(target);
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
      {"target", target.origin()},
      {"size", committable.bytes},
      {"crc32c", checksum},
      {"records",
       rows.size()}}.dump();
  return committable;
}

Result<SegmentReference> SegmentReference::Parse(std::string_view payload) {
  const Json json = Json::parse(payload, nullptr, false);
  const auto number = [&json](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number_integer();
  };
  if (!number("size") || !number("crc32c") || !number("records") || !json.contains("path") ||
      !json["path"].is_string()) {
    return Status::Data(fmt::format("'{}' is no committable of connector 'jdbc'", payload));
  }
  return SegmentReference{json["path"], json.value("target", ""), json["size"], json["crc32c"],
                          json["records"]};
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
    return Damaged(reference);
  }
  return bytes;
}

Status ApplySegment(std::string_view segment, const SegmentReference& reference, Sqlite* database) {
  if (!segment.starts_with(kMagic) || segment.size() < kMagic.size() + 4) return Damaged(reference);
  const size_t header_size = NumberAt(segment, kMagic.size());
  const size_t begin = kMagic.size() + 4;
  if (segment.size() - begin < header_size) return Damaged(reference);
  const Json header = Json::parse(segment.substr(begin, header_size), nullptr, false);
  if (!header.is_object() || !header.contains("table") || !header.contains("columns") ||
      !header.contains("key")) {
    return Damaged(reference);
  }
  return ApplyRecords(segment, begin + header_size, header, reference, database);
}

}  // namespace caudal
