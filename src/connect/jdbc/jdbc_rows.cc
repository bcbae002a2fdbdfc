#include "connect/jdbc/jdbc_rows.h"

#include <fmt/format.h>

#include "connect/jdbc/database_cell.h"
#include "data/text/utf8_text.h"

namespace caudal {
namespace {

using Json = nlohmann::json;

// A builder cannot forget its last value: those before `failed` are made again without it.
void TakeBack(std::vector<ColumnBuilder>* builders, size_t failed) {
  for (size_t i = 0; i < failed; ++i) {
    ColumnBuilder& builder = (*builders)[i];
    const ColumnPtr column = builder.Finish();
    for (int32_t row = 0; row + 1 < column->size(); ++row) builder.AppendFrom(*column, row);
  }
}

}  // namespace

Result<JdbcRows::OpenTable> JdbcRows::OpenTable::Of(const JdbcTarget& target,
                                                    const std::vector<std::string>& names) {
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

Status JdbcRows::Check(const JdbcTarget& target, const std::vector<std::string>& names) {
  return OpenTable::Of(target, names).status();
}

Result<std::unique_ptr<JdbcRows>> JdbcRows::Open(const JdbcTarget& target,
                                                 const std::vector<std::string>& names, Schema schema,
                                                 JdbcPosition position) {
  ASSIGN_OR_RETURN(OpenTable table, OpenTable::Of(target, names));
  const Json key = position.after ? Json::array({*position.after}) : position.key;
  const RowOrder::From start = !key.is_null()      ? RowOrder::From::kBehindKey
                               : position.rows > 0 ? RowOrder::From::kBehindCount
                                                   : RowOrder::From::kStart;
  const size_t columns = table.order.columns.size();
  if (!key.is_null() &&
      (columns == 0 || key.size() != columns || position.after.has_value() != table.order.by_rowid)) {
    return Status::Data(
               fmt::format("the primary key of table '{}' is not what it was when the checkpoint was made",
                           target.table))
        .Hint("give the table its key back, or start with another state folder");
  }
  ASSIGN_OR_RETURN(SqliteStatement rows,
                   table.database->Prepare(table.order.Select(target.table, names, start)));
  std::vector<std::string> texts;
  if (start == RowOrder::From::kBehindCount) rows.BindInteger(0, position.rows);
  if (start == RowOrder::From::kBehindKey && !BindKey(key, columns, &rows, &texts))
    return Status::Data(fmt::format("'{}' is no position of connector 'jdbc'", key.dump()));
  return std::unique_ptr<JdbcRows>(new JdbcRows(std::move(table), std::move(rows), std::move(texts),
                                                std::move(position), std::move(schema)));
}

Result<SourceRows> JdbcRows::Next() {
  if (ended_) return SourceRows();
  std::vector<ColumnBuilder> builders;
  for (const Field& field : schema_.fields) builders.emplace_back(field.type, Chunk::kMaxRows);
  SourceRows out;
  int32_t count = 0;
  while (count + static_cast<int32_t>(out.rejected.size()) < Chunk::kMaxRows) {
    ASSIGN_OR_RETURN(const bool row, rows_.Step());
    if (!row) {
      ended_ = true;  // another step would begin anew
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
  if (count == 0 && out.rejected.empty()) return out;
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  out.chunk = Chunk(std::move(columns), count);
  out.bytes = static_cast<int64_t>(out.chunk.RetainedBytes());
  return out;
}

void JdbcRows::AddRow(std::vector<ColumnBuilder>* builders, int32_t* count, SourceRows* out) {
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
                               NotOfColumn(name, rows_.text(from - 1), builder.type().WithNullable(true))});
      return;
    }
  }
  out->offsets.push_back(offset);
  ++*count;
}

}  // namespace caudal
