#include "run/scan/dead_letter.h"

#include <fmt/format.h>

#include <optional>

#include "data/column_builder.h"
#include "data/column_view.h"

namespace caudal {
namespace {

constexpr std::string_view kColumnNames[] = {
    "query",         "source",   "file",        "split", "offset",    "raw", "error_class",
    "error_message", "operator", "rejected_at", "topic", "partition", "key", "headers"};

bool Fits(std::string_view name, const Type& type) {
  if (name == "split" || name == "partition")
    return type.id() == TypeId::kInt || type.id() == TypeId::kBigInt;
  if (name == "offset") return type.id() == TypeId::kBigInt;
  if (name == "raw" || name == "key") return type.is_binary() || type.is_string();
  if (name == "headers") return type.EqualsIgnoringNullability(HeadersType());
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

Result<DeadLetterTable> DeadLetterTable::Make(const Table& table, DeadLetterOwner owner) {
  DeadLetterTable dead_letter(table, std::move(owner));
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kComputed || column.is_virtual) continue;
    size_t content = 0;
    while (content < std::size(kColumnNames) && kColumnNames[content] != column.name) ++content;
    if (content == std::size(kColumnNames) || !Fits(column.name, column.type)) {
      return Status::User(fmt::format("dead-letter table '{}' has a column '{}' of type {}", table.name,
                                      column.name, column.type.ToString()))
          .Hint(
              "it may have: query STRING, source STRING, file STRING, split INT, offset BIGINT, topic "
              "STRING, "
              "partition INT, raw BYTES, key BYTES, headers MAP<STRING, BYTES>, error_class STRING, "
              "error_message STRING, operator STRING, rejected_at TIMESTAMP_LTZ(3)");
    }
    dead_letter.contents_.push_back(static_cast<Content>(content));
    dead_letter.types_.push_back(column.type);
  }
  return dead_letter;
}

void DeadLetterTable::Append(Content content, const DeadLetterCell& cell, ColumnBuilder& builder) const {
  const auto text = [&](std::optional<std::string_view> value) {
    value ? builder.AppendString(*value) : builder.AppendNull();
  };
  const auto origin = [&] { return cell.file ? RecordOrigin::Of(*cell.file) : std::nullopt; };
  switch (content) {
    case Content::kQuery:
      return text(owner_.query);
    case Content::kSource:
      return text(cell.source);
    case Content::kFile:
      return text(cell.file);
    case Content::kSplit:
      return AppendInteger(builder, cell.split);
    case Content::kOffset:
      return AppendInteger(builder, cell.offset);
    case Content::kRaw:
      return text(cell.raw);
    case Content::kClass:
      return text(cell.error_class);
    case Content::kMessage:
      return text(cell.place.empty() ? std::string(cell.message)
                                     : fmt::format("{} (at {})", cell.message, cell.place));
    case Content::kOperator:
      return text(cell.node);
    case Content::kTime:
      return builder.Append(cell.now_millis * (builder.type().ticks_per_second() / 1000));
    case Content::kTopic: {
      const auto at = origin();
      return text(at ? std::optional(at->topic) : std::nullopt);
    }
    case Content::kPartition: {
      const auto at = origin();
      return AppendInteger(builder, at ? std::optional<int64_t>(at->partition) : std::nullopt);
    }
    case Content::kKey:
      return text(cell.key);
    case Content::kHeaders:
      return AppendDeadLetterHeaders(cell, owner_, &builder);
  }
}

template <typename Fill>
Chunk DeadLetterTable::Build(int32_t rows, Fill fill) const {
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type, rows);
  for (int32_t row = 0; row < rows; ++row) {
    const DeadLetterCell cell = fill(row);
    for (size_t i = 0; i < builders.size(); ++i) Append(contents_[i], cell, builders[i]);
  }
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  return Chunk(std::move(columns), rows);
}

Chunk DeadLetterTable::FromRows(const Chunk& chunk, const Schema& schema, const Rejection& rejection,
                                const std::string& source, const DeadLetterWitness& witness) const {
  const RowSet rows = chunk.rows();
  const Column* split = Hidden(chunk, schema, kSplitColumn);
  const Column* offset = Hidden(chunk, schema, kOffsetColumn);
  const Column* raw = Hidden(chunk, schema, kRawColumn);
  std::optional<ColumnView<int32_t>> splits;
  std::optional<ColumnView<int64_t>> offsets;
  const Column* file = Hidden(chunk, schema, kFileColumn);
  const Column* key = Hidden(chunk, schema, kKeyColumn);
  const Column* headers = Hidden(chunk, schema, kHeadersColumn);
  const Column* arrival = Hidden(chunk, schema, kArrivalColumn);
  std::optional<ColumnView<StringView>> raws, files, keys;
  std::optional<ColumnView<int64_t>> arrivals;
  if (arrival != nullptr) arrivals.emplace(*arrival);
  if (split != nullptr) splits.emplace(*split);
  if (offset != nullptr) offsets.emplace(*offset);
  if (raw != nullptr) raws.emplace(*raw);
  if (file != nullptr) files.emplace(*file);
  if (key != nullptr) keys.emplace(*key);
  return Build(rows.count, [&](int32_t i) {
    const int32_t row = rows[i];
    DeadLetterCell cell;
    if (!source.empty()) cell.source = source;
    if (files && !files->IsNull(row)) cell.file = (*files)[row].view();
    if (splits && !splits->IsNull(row)) cell.split = (*splits)[row];
    if (offsets && !offsets->IsNull(row)) cell.offset = (*offsets)[row];
    if (raws && !raws->IsNull(row)) cell.raw = (*raws)[row].view();
    if (keys && !keys->IsNull(row)) cell.key = (*keys)[row].view();
    if (arrivals && !arrivals->IsNull(row)) cell.arrival_millis = (*arrivals)[row];
    cell.header_column = headers;
    cell.row = row;
    cell.error_class = rejection.fate == Fate::kLate ? FateName(Fate::kLate) : rejection.name;
    if (!rejection.messages.empty()) {
      const size_t at = rejection.messages.size() == 1 ? 0 : static_cast<size_t>(i);
      cell.message = rejection.messages[at];
      if (at < rejection.places.size()) cell.place = rejection.places[at];
    }
    cell.node = witness.node;
    cell.task = witness.task;
    cell.now_millis = witness.now_millis;
    return cell;
  });
}

Chunk DeadLetterTable::FromRecords(std::span<const RejectedRecord> records, const std::string& source,
                                   int split, const DeadLetterWitness& witness) const {
  return Build(static_cast<int32_t>(records.size()), [&](int32_t i) {
    const RejectedRecord& record = records[static_cast<size_t>(i)];
    DeadLetterCell cell;
    cell.source = source;
    if (!record.file.empty()) cell.file = record.file;
    cell.split = split;
    cell.offset = record.offset;
    if (!record.no_value) cell.raw = record.raw;
    if (record.key) cell.key = *record.key;
    cell.header_list = &record.headers;
    cell.arrival_millis = record.arrival_millis;
    cell.error_class = record.error_class;
    cell.message = record.message;
    cell.node = witness.node;
    cell.task = witness.task;
    cell.now_millis = witness.now_millis;
    return cell;
  });
}

}  // namespace caudal
