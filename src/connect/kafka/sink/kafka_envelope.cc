#include "connect/kafka/sink/kafka_envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/column_builder.h"
#include "data/column_view.h"
#include "format/format.h"

namespace caudal {
namespace {

constexpr uint32_t kNullSize = UINT32_MAX;
constexpr std::string_view kWritable = "'timestamp' TIMESTAMP_LTZ(3) and 'headers' MAP<STRING, BYTES>";

void PutSize(uint32_t size, std::string* out) {
  char bytes[4];
  std::memcpy(bytes, &size, 4);
  out->append(bytes, 4);
}

bool TakeText(std::string_view bytes, size_t* at, std::string_view* text) {
  uint32_t size = 0;
  if (bytes.size() - *at < 4) return false;
  std::memcpy(&size, bytes.data() + *at, 4);
  *at += 4;
  *text = std::string_view();
  if (size == kNullSize) return true;
  if (bytes.size() - *at < size) return false;
  *text = bytes.substr(*at, size);
  *at += size;
  return true;
}

// Of one row's map; a name that is there twice is written twice, as headers may be.
void AppendHeaders(const Column& column, int32_t row, std::string* out) {
  const int32_t* offsets = column.values<int32_t>();
  const int32_t at = column.encoding() == Encoding::kConstant ? 0 : row;
  const ColumnView<StringView> names(*column.children()[0]), values(*column.children()[1]);
  for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    const std::string_view name = names.IsNull(i) ? std::string_view() : names[i].view();
    const std::string_view value = values.IsNull(i) ? std::string_view() : values[i].view();
    AppendHeader(name, values.IsNull(i) ? nullptr : &value, out);
  }
}

ColumnPtr HeadersOf(const Column& column, RowSet rows) {
  ColumnBuilder builder(Type::Bytes(), rows.count);
  std::string bytes;
  for (int32_t i = 0; i < rows.count; ++i) {
    bytes.clear();
    if (!column.IsNull(rows[i])) AppendHeaders(column, rows[i], &bytes);
    if (bytes.empty()) {
      builder.AppendNull();
    } else {
      builder.AppendString(bytes);
    }
  }
  return builder.Finish();
}

ColumnPtr MillisOf(const Column& column, RowSet rows) {
  ColumnBuilder builder(Type(TypeId::kBigInt), rows.count);
  const ColumnView<int64_t> ticks(column);
  const int64_t a_milli = column.type().ticks_per_second() / 1000;
  for (int32_t i = 0; i < rows.count; ++i) {
    if (ticks.IsNull(rows[i])) {
      builder.AppendNull();
    } else {
      builder.Append(ticks[rows[i]] / a_milli);
    }
  }
  return builder.Finish();
}

std::vector<RowKind> KindsOf(const Chunk& chunk) {
  std::vector<RowKind> kinds;
  const RowSet rows = chunk.rows();
  for (int32_t i = 0; i < rows.count; ++i) kinds.push_back(chunk.kind(rows[i]));
  return kinds;
}

}  // namespace

void AppendHeader(std::string_view name, const std::string_view* value, std::string* out) {
  PutSize(static_cast<uint32_t>(name.size()), out);
  out->append(name);
  PutSize(value == nullptr ? kNullSize : static_cast<uint32_t>(value->size()), out);
  if (value != nullptr) out->append(*value);
}

bool ReadHeader(std::string_view bytes, size_t* at, std::string_view* name, std::string_view* value) {
  return TakeText(bytes, at, name) && TakeText(bytes, at, value);
}

Status KafkaEnvelope::MakeHalf(const Table& table, std::string_view format, const Options& options,
                               Schema schema, Half* half) {
  if (format != "raw") {
    Result<std::unique_ptr<Encoder>> encoder = MakeEncoder(format, schema, options);
    if (!encoder.ok()) return std::move(encoder).status().At("table '" + table.name + "'");
    half->encoder = std::move(*encoder);
    return Status();
  }
  const bool fits = schema.size() == 1 && schema[0].type.physical() == Physical::kString;
  if (fits) return Status();
  return Status::User(
      fmt::format("table '{}': format 'raw' takes one column of STRING or BYTES, not {}", table.name,
                  schema.size() == 1 ? schema[0].type.ToString() : fmt::format("{} columns", schema.size())));
}

Result<KafkaEnvelope> KafkaEnvelope::Make(const Table& table, const KafkaSinkOptions& options) {
  KafkaEnvelope envelope;
  const std::vector<std::string>& keys = options.table.key_fields;
  Schema key, value;
  int position = 0;
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kComputed || column.is_virtual) continue;
    const int at = position++;
    if (column.kind == TableColumn::Kind::kMetadata) {
      const bool timestamp = column.metadata_key == "timestamp" && column.type.is_timestamp();
      const bool headers = column.metadata_key == "headers" && column.type.id() == TypeId::kMap &&
                           column.type.children()[0].type.physical() == Physical::kString &&
                           column.type.children()[1].type.physical() == Physical::kString;
      if (!timestamp && !headers) {
        return Status::User(
                   fmt::format("table '{}': column '{}' is metadata '{}' of type {}, which cannot be "
                               "written",
                               table.name, column.name, column.metadata_key, column.type.ToString()))
            .Hint(fmt::format("declare it VIRTUAL; what can be written is {}", kWritable));
      }
      (timestamp ? envelope.timestamp_ : envelope.headers_) = at;
      continue;
    }
    const bool in_key = std::find(keys.begin(), keys.end(), column.name) != keys.end();
    if (in_key) {
      key.fields.push_back({column.name.substr(options.table.key_prefix.size()), column.type});
      envelope.key_.columns.push_back(at);
    }
    if (!in_key || options.table.key_in_value) {
      value.fields.push_back({column.name, column.type});
      envelope.value_.columns.push_back(at);
    }
  }
  envelope.has_key_ = !key.fields.empty();
  if (envelope.has_key_) {
    RETURN_IF_ERROR(
        MakeHalf(table, options.table.key_format, options.table.key_options, std::move(key), &envelope.key_));
  }
  RETURN_IF_ERROR(MakeHalf(table, options.table.value_format, options.table.value_options, std::move(value),
                           &envelope.value_));
  return envelope;
}

// `kinds`: of the selected rows, if deletes among them are NULL.
Result<ColumnPtr> KafkaEnvelope::Encode(const Chunk& chunk, const std::vector<RowKind>* kinds, Half* half) {
  const RowSet rows = chunk.rows();
  const auto left_out = [kinds](int32_t i) {
    return kinds != nullptr && !IsAdd((*kinds)[static_cast<size_t>(i)]);
  };
  std::vector<ColumnPtr> columns;
  for (const int column : half->columns) columns.push_back(chunk.column(column));
  ColumnBuilder builder(Type::Bytes(), rows.count);
  if (half->encoder == nullptr) {
    const ColumnView<StringView> values(*columns[0]);
    for (int32_t i = 0; i < rows.count; ++i) {
      if (left_out(i) || values.IsNull(rows[i])) {
        builder.AppendNull();
      } else {
        builder.AppendString(values[rows[i]].view());
      }
    }
    return builder.Finish();
  }
  half->text.clear();
  half->ends.clear();
  RETURN_IF_ERROR(half->encoder->Encode(Chunk(std::move(columns), chunk.physical_rows(), chunk.selection()),
                                        &half->text, &half->ends));
  size_t begin = 0;
  for (int32_t i = 0; i < rows.count; ++i) {
    const size_t end = half->ends[static_cast<size_t>(i)];
    if (left_out(i)) {
      builder.AppendNull();
    } else {
      builder.AppendString(std::string_view(half->text).substr(begin, end - begin));
    }
    begin = end;
  }
  return builder.Finish();
}

Result<Chunk> KafkaEnvelope::Seal(const Chunk& chunk) {
  const RowSet rows = chunk.rows();
  RowKindsPtr kinds;
  if (!chunk.insert_only()) kinds = std::make_shared<const std::vector<RowKind>>(KindsOf(chunk));
  std::vector<ColumnPtr> columns(4);
  columns[kKey] = Column::Null(Type::Bytes(), rows.count);
  if (has_key_) {
    ASSIGN_OR_RETURN(columns[kKey], Encode(chunk, nullptr, &key_));
  }
  ASSIGN_OR_RETURN(columns[kValue], Encode(chunk, kinds.get(), &value_));
  columns[kTimestamp] = timestamp_ < 0 ? Column::Null(Type(TypeId::kBigInt), rows.count)
                                       : MillisOf(*chunk.column(timestamp_), rows);
  columns[kHeaders] =
      headers_ < 0 ? Column::Null(Type::Bytes(), rows.count) : HeadersOf(*chunk.column(headers_), rows);
  return Chunk(std::move(columns), rows.count, nullptr, std::move(kinds));
}

}  // namespace caudal
