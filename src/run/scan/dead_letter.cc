#include "run/scan/dead_letter.h"

#include <fmt/format.h>

#include <optional>

#include "data/column_builder.h"
#include "data/column_view.h"

namespace caudal {
namespace {

constexpr std::string_view kColumnNames[] = {"query",    "source",     "file",        "split",
                                             "offset",   "raw",        "error_class", "error_message",
                                             "operator", "rejected_at"};

bool Fits(std::string_view name, const Type& type) {
  if (name == "split") return type.id() == TypeId::kInt || type.id() == TypeId::kBigInt;
  if (name == "offset") return type.id() == TypeId::kBigInt;
  if (name == "raw") return type.is_binary() || type.is_string();
  if (name == "rejected_at") return type.is_timestamp();
  return type.is_string();
}

// The hidden column of that name, null if the rows do not carry it.
const Column* Hidden(const Chunk& chunk, const Schema& schema, std::string_view name) {
  const std::optional<int> at = schema.Find(name);
  return at ? chunk.column(*at).get() : nullptr;
}

void AppendInteger(ColumnBuilder& builder, std::optional<int64_t> value) {
  if (!value) {
    builder.AppendNull();
  } else if (builder.type().physical() == Physical::kInt32) {
    builder.Append(static_cast<int32_t>(*value));
  } else {
    builder.Append(*value);
  }
}

}  // namespace

// What is known of one rejected row.
struct DeadLetterTable::Cell {
  std::optional<std::string_view> source;
  std::optional<std::string_view> file;
  std::optional<int64_t> split;
  std::optional<int64_t> offset;
  std::optional<std::string_view> raw;
  std::string_view error_class;
  std::string_view message;
  std::string_view place;  // in the SQL; empty: of no expression
  std::string_view node;
  int64_t now_millis = 0;
};

Result<DeadLetterTable> DeadLetterTable::Make(const Table& table, std::string query) {
  DeadLetterTable dead_letter(table, std::move(query));
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kComputed || column.is_virtual) continue;
    size_t content = 0;
    while (content < std::size(kColumnNames) && kColumnNames[content] != column.name) ++content;
    if (content == std::size(kColumnNames) || !Fits(column.name, column.type)) {
      return Status::User(fmt::format("dead-letter table '{}' has a column '{}' of type {}", table.name,
                                      column.name, column.type.ToString()))
          .Hint(
              "it may have: query STRING, source STRING, file STRING, split INT, offset BIGINT, raw BYTES, "
              "error_class "
              "STRING, "
              "error_message STRING, operator STRING, rejected_at TIMESTAMP_LTZ(3)");
    }
    dead_letter.contents_.push_back(static_cast<Content>(content));
    dead_letter.types_.push_back(column.type);
  }
  return dead_letter;
}

template <typename Fill>
Chunk DeadLetterTable::Build(int32_t rows, Fill fill) const {
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type, rows);
  auto text = [](ColumnBuilder& builder, std::optional<std::string_view> value) {
    value ? builder.AppendString(*value) : builder.AppendNull();
  };
  for (int32_t row = 0; row < rows; ++row) {
    const Cell cell = fill(row);
    for (size_t i = 0; i < builders.size(); ++i) {
      ColumnBuilder& builder = builders[i];
      switch (contents_[i]) {
        case Content::kQuery:
          text(builder, query_);
          break;
        case Content::kSource:
          text(builder, cell.source);
          break;
        case Content::kFile:
          text(builder, cell.file);
          break;
        case Content::kSplit:
          AppendInteger(builder, cell.split);
          break;
        case Content::kOffset:
          AppendInteger(builder, cell.offset);
          break;
        case Content::kRaw:
          text(builder, cell.raw);
          break;
        case Content::kClass:
          text(builder, cell.error_class);
          break;
        case Content::kMessage:
          text(builder, cell.place.empty() ? std::string(cell.message)
                                           : fmt::format("{} (at {})", cell.message, cell.place));
          break;
        case Content::kOperator:
          text(builder, cell.node);
          break;
        case Content::kTime:
          builder.Append(cell.now_millis * (types_[i].ticks_per_second() / 1000));
          break;
      }
    }
  }
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  return Chunk(std::move(columns), rows);
}

Chunk DeadLetterTable::FromRows(const Chunk& chunk, const Schema& schema, const Rejection& rejection,
                                const std::string& source, const std::string& node,
                                int64_t now_millis) const {
  const RowSet rows = chunk.rows();
  const Column* split = Hidden(chunk, schema, kSplitColumn);
  const Column* offset = Hidden(chunk, schema, kOffsetColumn);
  const Column* raw = Hidden(chunk, schema, kRawColumn);
  std::optional<ColumnView<int32_t>> splits;
  std::optional<ColumnView<int64_t>> offsets;
  const Column* file = Hidden(chunk, schema, kFileColumn);
  std::optional<ColumnView<StringView>> raws, files;
  if (split != nullptr) splits.emplace(*split);
  if (offset != nullptr) offsets.emplace(*offset);
  if (raw != nullptr) raws.emplace(*raw);
  if (file != nullptr) files.emplace(*file);
  return Build(rows.count, [&](int32_t i) {
    const int32_t row = rows[i];
    Cell cell;
    if (!source.empty()) cell.source = source;
    if (files && !files->IsNull(row)) cell.file = (*files)[row].view();
    if (splits && !splits->IsNull(row)) cell.split = (*splits)[row];
    if (offsets && !offsets->IsNull(row)) cell.offset = (*offsets)[row];
    if (raws && !raws->IsNull(row)) cell.raw = (*raws)[row].view();
    cell.error_class = rejection.fate == Fate::kLate ? FateName(Fate::kLate) : rejection.name;
    if (!rejection.messages.empty()) {
      const size_t at = rejection.messages.size() == 1 ? 0 : static_cast<size_t>(i);
      cell.message = rejection.messages[at];
      if (at < rejection.places.size()) cell.place = rejection.places[at];
    }
    cell.node = node;
    cell.now_millis = now_millis;
    return cell;
  });
}

Chunk DeadLetterTable::FromRecords(std::span<const RejectedRecord> records, const std::string& source,
                                   int split, const std::string& node, int64_t now_millis) const {
  return Build(static_cast<int32_t>(records.size()), [&](int32_t i) {
    const RejectedRecord& record = records[static_cast<size_t>(i)];
    Cell cell;
    cell.source = source;
    if (!record.file.empty()) cell.file = record.file;
    cell.split = split;
    cell.offset = record.offset;
    cell.raw = record.raw;
    cell.error_class = record.error_class;
    cell.message = record.message;
    cell.node = node;
    cell.now_millis = now_millis;
    return cell;
  });
}

}  // namespace caudal
