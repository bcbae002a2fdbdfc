#include "server/path_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "format/decoder.h"
#include "format/json_cursor.h"
#include "format/parquet_module.h"
#include "format/record_framing.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSampleFiles = 8;
constexpr int64_t kSampleBytes = 1 << 20;  // of each
constexpr int kDeepestFolder = 8;

struct QuotedName {
  std::string text;
  std::string before;  // the word in front of it, in upper case
  std::string first;   // the word in front of that
};

// The names in backticks, without what stands in text literals and comments.
std::vector<QuotedName> QuotedNames(std::string_view script) {
  std::vector<QuotedName> names;
  std::string word, former;
  for (size_t at = 0; at < script.size();) {
    const unsigned char c = static_cast<unsigned char>(script[at]);
    if (script.substr(at, 2) == "--") {
      at = std::min(script.find('\n', at), script.size());
    } else if (script.substr(at, 2) == "/*") {
      const size_t end = script.find("*/", at + 2);
      at = end == std::string_view::npos ? script.size() : end + 2;
    } else if (c == '\'' || c == '`') {
      const size_t end = std::min(script.find(script[at], at + 1), script.size());
      const bool goes_on = end + 1 < script.size() && script[end + 1] == '.';  // `catalog`.database.table
      if (c == '`' && !goes_on)
        names.push_back({std::string(script.substr(at + 1, end - at - 1)), word, former});
      word.clear();
      former.clear();
      at = end + 1;
    } else if (std::isalnum(c) || c == '_') {
      former = std::exchange(word, {});
      for (; at < script.size(); ++at) {
        const unsigned char next = static_cast<unsigned char>(script[at]);
        if (!std::isalnum(next) && next != '_') break;
        word.push_back(static_cast<char>(std::toupper(next)));
      }
    } else {
      if (!std::isspace(c)) {
        word.clear();
        former.clear();
      }
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

Status RefuseFormat(const std::string& path) {
  const size_t dot = path.find_last_of("./");
  const std::string ending = dot == std::string::npos || path[dot] == '/' ? "" : path.substr(dot);
  return Status::User(fmt::format("'{}' cannot be read as a table: {}", path,
                                  ending.empty() ? "its name does not end in a format's"
                                                 : fmt::format("format '{}' is not known", ending)))
      .Hint("names of files end in .parquet, .json, .ndjson or .jsonl");
}

// The data files below a folder, the first kSampleFiles in name order, and the keys of the folders on the
// way to them.
struct FoundFiles {
  std::vector<std::string> paths;
  std::vector<std::string> partition_keys;
  std::string other;  // the first file that is none
};

Status FindFiles(FileSystem* files, const std::string& folder, int depth, FoundFiles* found) {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files->List(folder));
  for (const FileInfo& entry : entries) {
    if (found->paths.size() == kSampleFiles) return Status();
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    if (name.starts_with('.') || name.starts_with('_') || !entry.unreadable.empty()) continue;
    if (!entry.is_directory) {
      if (!FormatOf(name).empty()) {
        found->paths.push_back(entry.path);
      } else if (found->other.empty()) {
        found->other = entry.path;
      }
      continue;
    }
    if (depth == kDeepestFolder) continue;
    const size_t before = found->paths.size();
    RETURN_IF_ERROR(FindFiles(files, entry.path, depth + 1, found));
    const size_t equals = name.find('=');
    if (found->paths.size() == before || equals == std::string::npos) continue;
    std::vector<std::string>& keys = found->partition_keys;
    const std::string key = name.substr(0, equals);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.insert(keys.begin(), key);
  }
  return Status();
}

// Whether a number of so many digits stands in the record, without fraction or exponent.
bool HasLongInteger(std::string_view record) {
  constexpr size_t kLong = 19;
  const auto digit = [&](size_t at) { return at < record.size() && record[at] >= '0' && record[at] <= '9'; };
  for (size_t at = 0; at < record.size(); ++at) {
    if (!digit(at)) continue;
    const bool fraction = at > 0 && record[at - 1] == '.';
    const size_t begin = at;
    while (digit(at)) ++at;
    const bool goes_on = at < record.size() && std::string_view(".eE").find(record[at]) != std::string::npos;
    if (at - begin >= kLong && !fraction && !goes_on) return true;
  }
  return false;
}

// More levels than the reader takes: what works on them by recursion had no stack for as many as there may
// be.
bool IsTooDeep(std::string_view record) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < record.size(); ++at) {
    const char c = record[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > JsonCursor::kMaxDepth) return true;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

// `long_integer`: the record holds an integer of many digits, which the parser has made a double.
Type TypeOf(const Json& value, bool long_integer) {
  if (value.is_boolean()) return Type(TypeId::kBoolean);
  // Above BIGINT, up to 2^64 - 1.
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return Type::Decimal(20, 0);
  if (value.is_number_integer()) return Type(TypeId::kBigInt);
  if (value.is_number()) {
    const double number = std::abs(value.get<double>());
    return long_integer && number >= 0x1p63 && number < 1e38 ? Type::Decimal(38, 0) : Type(TypeId::kDouble);
  }
  if (value.is_null()) return Type();
  return Type::String();  // objects and arrays too: as their JSON text
}

// The type that holds both.
Type Widen(const Type& a, const Type& b) {
  if (a.id() == TypeId::kNull || a == b) return b;
  if (b.id() == TypeId::kNull) return a;
  if (!a.is_numeric() || !b.is_numeric()) return Type::String();
  const auto whole = [](const Type& type) { return type.is_integer() || type.id() == TypeId::kDecimal; };
  if (!whole(a) || !whole(b)) return Type(TypeId::kDouble);
  const auto wide = [](const Type& type) { return type.id() == TypeId::kDecimal && type.precision() == 38; };
  return Type::Decimal(wide(a) || wide(b) ? 38 : 20, 0);
}

// What the records of a folder say of their fields, and where they were first seen.
class JsonFields {
 public:
  JsonFields(Schema* schema, std::vector<MixedColumn>* mixed) : schema_(schema), mixed_(mixed) {}

  void Add(const std::string& name, const Json& value, bool long_integer, const std::string& place) {
    const Type type = TypeOf(value, long_integer);
    const std::optional<int> known = schema_->Find(name);
    if (!known) {
      schema_->fields.push_back({name, type});
      if (!value.is_null()) first_[name] = {place, Shown(value)};
      return;
    }
    Type& is = schema_->fields[static_cast<size_t>(*known)].type;
    const Type wide = Widen(is, type);
    const Type text = Type::String(), unknown(TypeId::kNull);
    const bool disagrees = wide == text && is != type && is != unknown && type != unknown;
    if (is.id() == TypeId::kNull && !value.is_null()) first_[name] = {place, Shown(value)};
    is = wide;
    if (mixed_ == nullptr || !disagrees || !told_.insert(name).second) return;
    const auto& [where, what] = first_[name];
    mixed_->push_back({name, fmt::format("{} holds {} and {} holds {}", place, Shown(value), where, what)});
  }

 private:
  static std::string Shown(const Json& value) {
    constexpr size_t kMost = 40;
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    size_t end = std::min(text.size(), kMost);
    while (end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // whole code points
    return end == text.size() ? text : text.substr(0, end) + "…";
  }

  Schema* schema_;
  std::vector<MixedColumn>* mixed_;
  std::map<std::string, std::pair<std::string, std::string>> first_;  // place and value
  std::set<std::string> told_;
};

// Widens the fields by those of the file's first records.
Status InferJson(FileSystem* files, const std::string& path, JsonFields* fields) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  MutableBufferPtr sample;
  std::vector<std::string_view> records;
  // As far as one whole record at least.
  for (int64_t bytes = kSampleBytes; records.empty(); bytes *= 2) {
    ASSIGN_OR_RETURN(sample, file->Read(0, std::min(file->size(), bytes)));
    const bool last = file->size() <= bytes || bytes >= kMaxRecordBytes;
    RecordFraming(RecordFraming::Kind::kJson).Split(sample->view(), last, &records);
    if (last) break;
  }
  int64_t line = 1;
  const char* counted = sample->view().data();
  for (const std::string_view record : records) {
    line += std::count(counted, record.data(), '\n');
    counted = record.data();
    if (IsTooDeep(record)) continue;  // reading says what is wrong with it
    const Json json = Json::parse(record, nullptr, false);
    if (!json.is_object()) continue;
    const std::string place = fmt::format("line {} of '{}'", line, path);
    const bool long_integer = HasLongInteger(record);
    for (const auto& [name, value] : json.items()) fields->Add(name, value, long_integer, place);
  }
  return Status();
}

// Columns that cannot be read stay in the table, so that who asks for them is told why.
Status InferParquet(FileSystem* files, const std::string& path, Schema* schema) {
  ASSIGN_OR_RETURN(const ParquetModule* const module, ParquetModule::Load());
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader, module->open_reader(file.get(), path));
  for (const Field& field : reader->schema().fields) {
    const std::optional<int> known = schema->Find(field.name);
    // Another file may lack it.
    if (!known) schema->fields.push_back({field.name, field.type});
    if (!known || schema->fields[static_cast<size_t>(*known)].type == field.type) continue;
    Type& type = schema->fields[static_cast<size_t>(*known)].type;
    if (type.is_integer() && field.type.is_integer() && type.id() < field.type.id()) type = field.type;
    type = type.WithNullable(type.nullable() || field.type.nullable());
  }
  for (const auto& [name, type] : reader->unreadable()) {
    if (!schema->Find(name)) schema->fields.push_back({name, Type::String()});
  }
  return Status();
}

// Columns are taken from records, and the file has none. Says how it begins instead.
Status NoObject(FileSystem* files, const std::string& path) {
  constexpr int64_t kShown = 40;
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, files->Open(path));
  if (file->size() == 0) {
    return Status::Data(fmt::format("'{}' is empty: there is no record to take columns from", path))
        .Hint("declare the table: CREATE TABLE t (…) WITH ('connector' = 'filesystem', …)");
  }
  ASSIGN_OR_RETURN(const MutableBufferPtr begin, file->Read(0, kShown));
  std::string shown;
  for (const char c : begin->view()) {
    const bool plain = c >= ' ' && c < 0x7f;
    shown += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return Status::Data(
             fmt::format("'{}' holds no JSON object to take columns from: it begins with '{}'", path, shown))
      .Hint(
          "a record is an object, {\"name\": value, …}, in UTF-8: decompress the file, convert it, or write "
          "the "
          "elements of an array one by one");
}

Status InferSchema(FileSystem* files, const FoundFiles& found, std::string_view format, Schema* schema,
                   std::vector<MixedColumn>* mixed) {
  JsonFields fields(schema, mixed);
  for (const std::string& path : found.paths) {
    if (FormatOf(path) != format) {
      return Status::User(fmt::format("'{}' and '{}' are of different formats", found.paths[0], path))
          .Hint("name the files, or a folder that holds one format");
    }
    RETURN_IF_ERROR(format == "parquet" ? InferParquet(files, path, schema)
                                        : InferJson(files, path, &fields));
  }
  for (Field& field : schema->fields) {
    if (field.type.id() == TypeId::kNull) field.type = Type::String();
    // What one of many files lacks is NULL there.
    if (found.paths.size() > 1) field.type = field.type.WithNullable(true);
  }
  if (!schema->fields.empty()) return Status();
  if (format == "parquet") return Status::Data(fmt::format("'{}' has no column", found.paths[0]));
  return NoObject(files, found.paths[0]);
}

Status AddPathTable(const std::string& path, FileSystem* files, Catalog* catalog,
                    std::vector<MixedColumn>* mixed) {
  ASSIGN_OR_RETURN(const FileInfo info, files->Stat(path));
  FoundFiles found;
  if (info.is_directory) {
    RETURN_IF_ERROR(FindFiles(files, path, 0, &found));
    if (found.paths.empty()) {
      const std::string instead = found.other.empty() ? "" : fmt::format(", but '{}'", found.other);
      return Status::User(fmt::format("folder '{}' holds no Parquet or NDJSON file{}", path, instead));
    }
  } else {
    found.paths.push_back(path);
  }
  const std::string_view format = FormatOf(found.paths[0]);
  if (format.empty()) return RefuseFormat(path);
  Schema schema;
  RETURN_IF_ERROR(InferSchema(files, found, format, &schema, mixed));
  Table table;
  table.name = path;
  table.options = {{"connector", "filesystem"}, {"path", path}, {"format", std::string(format)}};
  for (const Field& field : schema.fields) table.columns.push_back({.name = field.name, .type = field.type});
  for (const std::string& key : found.partition_keys) {
    if (schema.Find(key)) continue;
    table.partition_keys.push_back(static_cast<int>(table.columns.size()));
    table.columns.push_back({.name = key, .type = Type::String()});
  }
  return catalog->AddTable(std::move(table));
}

// What the carets under a line of SQL stand below.
std::string_view MarkedText(std::string_view frame) {
  const size_t last = frame.rfind('\n');
  if (last == std::string_view::npos || last == 0) return {};
  const size_t line = frame.rfind('\n', last - 1) + 1;
  const std::string_view carets = frame.substr(last + 1), sql = frame.substr(line, last - line);
  const size_t first = std::min(carets.find('^'), sql.size());
  return sql.substr(first, static_cast<size_t>(std::count(carets.begin(), carets.end(), '^')));
}

bool HasWord(std::string_view text, std::string_view word) {
  const auto is_part = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
  }
  return false;
}

}  // namespace

Status AddPathTables(std::string_view script, FileSystem* files, Catalog* catalog,
                     std::vector<MixedColumn>* mixed) {
  const std::vector<QuotedName> names = QuotedNames(script);
  std::set<std::string> made;
  for (const QuotedName& name : names) {
    const bool table =
        name.before == "TABLE" && !name.first.empty();  // CREATE TABLE, no argument of a function
    if (table || name.before == "VIEW" || name.before == "EXISTS") made.insert(name.text);
  }
  for (const QuotedName& name : names) {
    const std::string& path = name.text;
    const bool looks_like_path = path.find('/') != std::string::npos || !FormatOf(path).empty();
    const bool is_read =
        name.before == "FROM" || name.before == "JOIN" || (name.before == "TABLE" && looks_like_path);
    // Elsewhere a quoted name is mostly a column, which a folder may be named like.
    if (!is_read && !looks_like_path) continue;
    if (made.contains(path) || catalog->FindTable(path) != nullptr || catalog->FindView(path) != nullptr)
      continue;
    if (name.before == "INTO" && looks_like_path) {
      return Status::User(fmt::format("'{}' cannot be written by its path", path))
          .Hint(fmt::format("declare it: CREATE TABLE t (…) WITH ('connector' = 'filesystem', 'path' = '{}', "
                            "'format' = 'json')",
                            path.substr(0, path.find_last_of('/'))));
    }
    ASSIGN_OR_RETURN(const bool exists, files->Exists(path));
    if (exists) {
      RETURN_IF_ERROR(AddPathTable(path, files, catalog, mixed));
    } else if (is_read && looks_like_path) {
      const bool is_pattern = path.find_first_of("*?") != std::string::npos;
      return Status::User(fmt::format("there is no file or folder '{}'", path))
          .Hint(is_pattern ? "a pattern is not read by path: name the folder that holds the files"
                           : "a path counts from the folder that the command runs in");
    }
  }
  return Status();
}

Status ExplainTypes(Status status, const std::vector<MixedColumn>& mixed) {
  if (status.ok() || status.domain() != Domain::kUser || status.message().find("STRING") == std::string::npos)
    return status;
  for (const MixedColumn& column : mixed) {
    const bool named =
        std::any_of(status.frames().begin(), status.frames().end(),
                    [&](const std::string& frame) { return HasWord(MarkedText(frame), column.name); });
    if (!named) continue;
    Status explained = Status::User(status.message());
    for (const std::string& frame : status.frames()) explained = std::move(explained).At(frame);
    return std::move(explained).Hint(
        fmt::format("'{0}' is STRING because {1}: write TRY_CAST(`{0}` AS DOUBLE), or "
                    "declare the table",
                    column.name, column.why));
  }
  return status;
}

}  // namespace caudal
