#include "server/path_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "format/parquet_module.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSampleRecords = 1000;
constexpr int64_t kSampleBytes = 4 << 20;
constexpr int kDeepestFolder = 8;

// The names in backticks, without what stands in text literals and comments.
std::vector<std::string> QuotedNames(std::string_view script) {
  std::vector<std::string> names;
  for (size_t at = 0; at < script.size();) {
    if (script.substr(at, 2) == "--") {
      at = std::min(script.find('\n', at), script.size());
    } else if (script.substr(at, 2) == "/*") {
      const size_t end = script.find("*/", at + 2);
      at = end == std::string_view::npos ? script.size() : end + 2;
    } else if (script[at] == '\'' || script[at] == '`') {
      const size_t end = std::min(script.find(script[at], at + 1), script.size());
      if (script[at] == '`') names.emplace_back(script.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      ++at;
    }
  }
  return names;
}

std::string_view FormatOf(std::string_view path) {
  if (path.ends_with(".parquet")) return "parquet";
  if (path.ends_with(".ndjson") || path.ends_with(".jsonl") || path.ends_with(".json")) return "json";
  return "";
}

struct FoundFile {
  std::string path;
  std::vector<std::string> partition_keys;
};

// The first data file below a folder, in name order, and the keys of the folders on the way.
Result<std::optional<FoundFile>> FindFile(FileSystem* files, const std::string& folder, int depth) {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files->List(folder));
  for (const FileInfo& entry : entries) {
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    if (name.starts_with('.') || name.starts_with('_')) continue;
    if (!entry.is_directory && !FormatOf(name).empty()) return std::optional(FoundFile{entry.path, {}});
    if (!entry.is_directory || depth == kDeepestFolder) continue;
    ASSIGN_OR_RETURN(std::optional<FoundFile> found, FindFile(files, entry.path, depth + 1));
    if (!found) continue;
    const size_t equals = name.find('=');
    if (equals != std::string::npos)
      found->partition_keys.insert(found->partition_keys.begin(), name.substr(0, equals));
    return found;
  }
  return std::optional<FoundFile>();
}

Type TypeOf(const Json& value) {
  if (value.is_boolean()) return Type(TypeId::kBoolean);
  if (value.is_number_integer()) return Type(TypeId::kBigInt);
  if (value.is_number()) return Type(TypeId::kDouble);
  if (value.is_null()) return Type();
  return Type::String();  // objects and arrays too: as their JSON text
}

// The type that holds both.
Type Widen(const Type& a, const Type& b) {
  if (a.id() == TypeId::kNull || a == b) return b;
  if (b.id() == TypeId::kNull) return a;
  return a.is_numeric() && b.is_numeric() ? Type(TypeId::kDouble) : Type::String();
}

Result<Schema> InferJson(FileSystem* files, const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  ASSIGN_OR_RETURN(const MutableBufferPtr sample, file->Read(0, std::min(file->size(), kSampleBytes)));
  const std::string_view bytes = sample->view();
  Schema schema;
  size_t at = 0;
  for (int record = 0; record < kSampleRecords && at < bytes.size(); ++record) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    const Json json = Json::parse(bytes.substr(at, end - at), nullptr, false);
    at = end + 1;
    if (!json.is_object()) continue;  // reading says what is wrong with it
    for (const auto& [name, value] : json.items()) {
      const std::optional<int> known = schema.Find(name);
      if (!known) schema.fields.push_back({name, TypeOf(value)});
      if (known) schema.fields[static_cast<size_t>(*known)].type = Widen(schema[*known].type, TypeOf(value));
    }
  }
  for (Field& field : schema.fields) {
    if (field.type.id() == TypeId::kNull) field.type = Type::String();
  }
  if (schema.fields.empty())
    return Status::Data(fmt::format("'{}' holds no JSON object to take columns from", path));
  return schema;
}

Result<Schema> InferParquet(FileSystem* files, const std::string& path) {
  ASSIGN_OR_RETURN(const ParquetModule* const module, ParquetModule::Load());
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader, module->open_reader(file.get(), path));
  return reader->schema();
}

Status AddPathTable(const std::string& path, FileSystem* files, Catalog* catalog) {
  ASSIGN_OR_RETURN(const FileInfo info, files->Stat(path));
  std::optional<FoundFile> found = FoundFile{path, {}};
  if (info.is_directory) {
    ASSIGN_OR_RETURN(found, FindFile(files, path, 0));
    if (!found) return Status::User(fmt::format("folder '{}' holds no Parquet or NDJSON file", path));
  }
  const std::string_view format = FormatOf(found->path);
  if (format.empty()) return Status();  // not a file of ours; the binder says that there is no such table
  Result<Schema> schema =
      format == "parquet" ? InferParquet(files, found->path) : InferJson(files, found->path);
  RETURN_IF_ERROR(schema.status());
  Table table;
  table.name = path;
  table.options = {{"connector", "filesystem"}, {"path", path}, {"format", std::string(format)}};
  for (const Field& field : schema->fields) table.columns.push_back({.name = field.name, .type = field.type});
  for (const std::string& key : found->partition_keys) {
    if (schema->Find(key)) continue;
    table.partition_keys.push_back(static_cast<int>(table.columns.size()));
    table.columns.push_back({.name = key, .type = Type::String()});
  }
  return catalog->AddTable(std::move(table));
}

}  // namespace

Status AddPathTables(std::string_view script, FileSystem* files, Catalog* catalog) {
  for (const std::string& name : QuotedNames(script)) {
    const bool looks_like_path = name.find('/') != std::string::npos || !FormatOf(name).empty();
    if (!looks_like_path || catalog->FindTable(name) != nullptr || catalog->FindView(name) != nullptr)
      continue;
    ASSIGN_OR_RETURN(const bool exists, files->Exists(name));
    if (exists) RETURN_IF_ERROR(AddPathTable(name, files, catalog));
  }
  return Status();
}

}  // namespace caudal
