#include "connect/jdbc/jdbc_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/durable_name.h"
#include "connect/jdbc/database_cell.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

// The database with a statement that reads the table.
struct OpenTable {
  std::unique_ptr<Sqlite> database;
  std::optional<SqliteStatement> rows;
  bool by_rowid = false;

  // User error: no such file, table or column.
  static Result<OpenTable> Of(const JdbcTarget& target, const std::vector<std::string>& names) {
    const std::string where = fmt::format("table '{}' of '{}'", target.table, target.path);
    OpenTable opened;
    Result<std::unique_ptr<Sqlite>> database = Sqlite::Open(target.path, Sqlite::Mode::kReadOnly);
    if (!database.ok()) return std::move(database).status().At(where);
    opened.database = std::move(*database);
    std::string columns;
    for (const std::string& name : names) columns += ", " + QuoteSqliteName(name);
    const std::string table = QuoteSqliteName(target.table);
    opened.by_rowid = opened.database->Prepare("SELECT rowid FROM " + table).ok();
    Result<SqliteStatement> rows = opened.database->Prepare(
        opened.by_rowid ? fmt::format("SELECT rowid{} FROM {} WHERE rowid > ? ORDER BY rowid", columns, table)
                        : fmt::format("SELECT 0{} FROM {} LIMIT -1 OFFSET ?", columns, table));
    if (!rows.ok()) return std::move(rows).status().At(where);
    opened.rows = std::move(*rows);
    return opened;
  }
};

// One split, found once: when the table can be read, which is known before anything runs.
class JdbcEnumerator : public SplitEnumerator {
 public:
  JdbcEnumerator(JdbcTarget target, std::vector<std::string> names)
      : target_(std::move(target)), names_(std::move(names)) {}
  Result<std::vector<Split>> Discover() override {
    if (found_) return std::vector<Split>();
    RETURN_IF_ERROR(OpenTable::Of(target_, names_).status());
    found_ = true;
    return std::vector<Split>{{target_.origin(), 0}};
  }
  bool complete() const override { return found_; }
  std::string Snapshot() const override { return found_ ? "found" : ""; }
  Status Restore(std::string_view snapshot) override {
    found_ = snapshot == "found";
    return Status();
  }

 private:
  JdbcTarget target_;
  std::vector<std::string> names_;
  bool found_ = false;
};

// What a position says: by rowid if the table has them, else by count.
struct JdbcPosition {
  int64_t after = INT64_MIN;
  int64_t rows = 0;
};

Result<JdbcPosition> ParsePosition(const Position& text, const std::string& origin, const std::string& file) {
  JdbcPosition position;
  if (text.empty()) return position;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("origin") || !json["origin"].is_string()) {
    return Status::Data(fmt::format("'{}' is no position of connector 'jdbc'", text));
  }
  if (json["origin"] != ToDurableName(origin) && json["origin"] != origin) {
    return Status::User(fmt::format("the checkpoint was made of '{}', not of '{}'",
                                    json["origin"].get<std::string>(), origin))
        .Hint("start with another state folder, or read the same table as before");
  }
  // One relative path is another database in another folder.
  if (json.contains("file") && json["file"] != ToDurableName(file)) {
    return Status::User(fmt::format("the checkpoint was made of '{}', not of '{}'",
                                    json["file"].is_string() ? json["file"].get<std::string>() : "", file))
        .Hint("start in the folder where it was made, or with another state folder");
  }
  position.after = json.value("after", position.after);
  position.rows = json.value("rows", position.rows);
  return position;
}

class JdbcReader : public SplitReader {
 public:
  JdbcReader(OpenTable table, JdbcPosition position, Schema schema, Json origin)
      : database_(std::move(table.database)),
        rows_(std::move(*table.rows)),
        by_rowid_(table.by_rowid),
        position_(position),
        first_(position.rows),
        schema_(std::move(schema)),
        origin_(std::move(origin)) {
    rows_.BindInteger(0, by_rowid_ ? position_.after : position_.rows);
  }

  Result<Poll> Next() override {
    if (ended_) return Poll(Finished{});
    std::vector<ColumnBuilder> builders;
    for (const Field& field : schema_.fields) builders.emplace_back(field.type, Chunk::kMaxRows);
    SourceRows out;
    int32_t count = 0;
    while (count + static_cast<int32_t>(out.rejected.size()) < Chunk::kMaxRows) {
      ASSIGN_OR_RETURN(const bool row, rows_.Step());
      if (!row) {
        ended_ = true;
        break;
      }
      ++position_.rows;
      position_.after = by_rowid_ ? rows_.integer(0) : position_.rows;
      AddRow(&builders, &count, &out);
    }
    if (count == 0 && out.rejected.empty()) return Poll(Finished{});
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
    out.chunk = Chunk(std::move(columns), count);
    out.bytes = static_cast<int64_t>(out.chunk.RetainedBytes());
    return Poll(std::move(out));
  }

  Position position() const override {
    Json json = origin_;
    json[by_rowid_ ? "after" : "rows"] = by_rowid_ ? position_.after : position_.rows;
    return json.dump();
  }
  int64_t records_passed() const override { return position_.rows - first_; }

 private:
  // The row at hand, if every column has a value of its type; else a rejected record.
  void AddRow(std::vector<ColumnBuilder>* builders, int32_t* count, SourceRows* out) {
    int from = 1;  // column 0 is the rowid
    for (size_t i = 0; i < builders->size(); ++i) {
      ColumnBuilder& builder = (*builders)[i];
      const std::string& name = schema_.fields[i].name;
      if (name == kOffsetColumn) {
        builder.Append(position_.after);
      } else if (name == kSplitColumn) {
        builder.Append(int32_t{0});
      } else if (name == kRawColumn) {
        builder.AppendNull();
      } else if (!AppendFromDatabase(rows_, from++, &builder)) {
        TakeBack(builders, i);
        out->rejected.push_back({position_.after, std::string(rows_.text(from - 1)), "malformed",
                                 fmt::format("column '{}': '{}' is not a {}", name, rows_.text(from - 1),
                                             builder.type().WithNullable(true).ToString())});
        return;
      }
    }
    out->offsets.push_back(position_.after);
    ++*count;
  }

  // A builder cannot forget its last value: those before `failed` are made again without it.
  static void TakeBack(std::vector<ColumnBuilder>* builders, size_t failed) {
    for (size_t i = 0; i < failed; ++i) {
      ColumnBuilder& builder = (*builders)[i];
      const ColumnPtr column = builder.Finish();
      for (int32_t row = 0; row + 1 < column->size(); ++row) builder.AppendFrom(*column, row);
    }
  }

  std::unique_ptr<Sqlite> database_;
  SqliteStatement rows_;
  bool by_rowid_;
  JdbcPosition position_;
  int64_t first_;  // position_.rows when it was opened
  Schema schema_;
  Json origin_;  // as positions begin
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<SplitEnumerator> JdbcSource::MakeEnumerator() {
  return std::make_unique<JdbcEnumerator>(target_, names_);
}

Result<std::unique_ptr<SplitReader>> JdbcSource::Open(const Split&, const Position& position) {
  ASSIGN_OR_RETURN(const JdbcPosition from, ParsePosition(position, target_.origin(), target_.file()));
  ASSIGN_OR_RETURN(OpenTable table, OpenTable::Of(target_, names_));
  return std::unique_ptr<SplitReader>(std::make_unique<JdbcReader>(
      std::move(table), from, request_.schema,
      Json{{"origin", ToDurableName(target_.origin())}, {"file", ToDurableName(target_.file())}}));
}

}  // namespace caudal
