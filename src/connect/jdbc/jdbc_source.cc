#include "connect/jdbc/jdbc_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/durable_name.h"
#include "connect/jdbc/database_cell.h"
#include "connect/jdbc/row_order.h"
#include "data/column_builder.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

// The database and the order in which the table is read.
struct OpenTable {
  std::unique_ptr<Sqlite> database;
  RowOrder order;

  // User error: no such file, table or column.
  static Result<OpenTable> Of(const JdbcTarget& target, const std::vector<std::string>& names) {
    OpenTable opened;
    const auto open = [&]() -> Status {
      ASSIGN_OR_RETURN(opened.database, Sqlite::Open(target.path, Sqlite::Mode::kReadOnly));
      ASSIGN_OR_RETURN(opened.order, RowOrder::Of(opened.database.get(), target.table));
      return opened.database->Prepare(opened.order.Select(target.table, names, RowOrder::From::kStart))
          .status();
    };
    if (Status status = open(); !status.ok())
      return std::move(status).At(fmt::format("table '{}' of '{}'", target.table, target.path));
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

// What a position says: the last row by rowid or by key, and the number of rows, which is all that is known
// of a view and in positions of earlier forms.
struct JdbcPosition {
  std::optional<int64_t> after;
  Json key;
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
  if (json.contains("after")) position.after = json.value("after", int64_t{0});
  position.key = json.value("key", Json());
  position.rows = json.value("rows", position.rows);
  return position;
}

class JdbcReader : public SplitReader {
 public:
  JdbcReader(OpenTable table, SqliteStatement rows, std::vector<std::string> bound, JdbcPosition position,
             Schema schema, Json origin)
      : database_(std::move(table.database)),
        bound_(std::move(bound)),
        rows_(std::move(rows)),
        order_(std::move(table.order)),
        position_(std::move(position)),
        first_(position_.rows),
        schema_(std::move(schema)),
        origin_(std::move(origin)) {}

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
      if (order_.by_rowid) {
        position_.after = rows_.integer(0);
      } else if (!order_.columns.empty()) {
        position_.key = ReadKey(rows_, order_.columns.size());
      }
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
    if (position_.after) {
      json["after"] = *position_.after;
    } else {
      json["rows"] = position_.rows;
      if (!position_.key.is_null()) json["key"] = position_.key;
    }
    return json.dump();
  }
  int64_t records_passed() const override { return position_.rows - first_; }

 private:
  // The row at hand, if every column has a value of its type; else a rejected record.
  void AddRow(std::vector<ColumnBuilder>* builders, int32_t* count, SourceRows* out) {
    int from = static_cast<int>(order_.columns.size());
    const int64_t offset = position_.after.value_or(position_.rows);
    for (size_t i = 0; i < builders->size(); ++i) {
      ColumnBuilder& builder = (*builders)[i];
      const std::string& name = schema_.fields[i].name;
      if (name == kOffsetColumn) {
        builder.Append(offset);
      } else if (name == kSplitColumn) {
        builder.Append(int32_t{0});
      } else if (name == kRawColumn) {
        builder.AppendNull();
      } else if (!AppendFromDatabase(rows_, from++, &builder)) {
        TakeBack(builders, i);
        out->rejected.push_back({offset, std::string(rows_.text(from - 1)), "malformed",
                                 fmt::format("column '{}': '{}' is not a {}", name, rows_.text(from - 1),
                                             builder.type().WithNullable(true).ToString())});
        return;
      }
    }
    out->offsets.push_back(offset);
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
  std::vector<std::string> bound_;  // texts of the key that rows_ began behind
  SqliteStatement rows_;
  RowOrder order_;
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
  const Json key = from.after ? Json::array({*from.after}) : from.key;
  const RowOrder::From start = !key.is_null()  ? RowOrder::From::kBehindKey
                               : from.rows > 0 ? RowOrder::From::kBehindCount
                                               : RowOrder::From::kStart;
  const size_t columns = table.order.columns.size();
  if (!key.is_null() &&
      (columns == 0 || key.size() != columns || from.after.has_value() != table.order.by_rowid)) {
    return Status::Data(
               fmt::format("the primary key of table '{}' is not what it was when the checkpoint was made",
                           target_.table))
        .Hint("give the table its key back, or start with another state folder");
  }
  ASSIGN_OR_RETURN(SqliteStatement rows,
                   table.database->Prepare(table.order.Select(target_.table, names_, start)));
  std::vector<std::string> texts;
  if (start == RowOrder::From::kBehindCount) rows.BindInteger(0, from.rows);
  if (start == RowOrder::From::kBehindKey && !BindKey(key, columns, &rows, &texts))
    return Status::Data(fmt::format("'{}' is no position of connector 'jdbc'", position));
  return std::unique_ptr<SplitReader>(std::make_unique<JdbcReader>(
      std::move(table), std::move(rows), std::move(texts), from, request_.schema,
      Json{{"origin", ToDurableName(target_.origin())}, {"file", ToDurableName(target_.file())}}));
}

}  // namespace caudal
