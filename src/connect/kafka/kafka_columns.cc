#include "connect/kafka/kafka_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/column_builder.h"
#include "data/value.h"

namespace caudal {
namespace {

constexpr std::string_view kTimestampTypes[] = {"NoTimestampType", "CreateTime", "LogAppendTime"};

// Spans of the records' own bytes, NULL where `none` marks. REQUIRES: a flag each record.
template <typename Give>
ColumnPtr Spans(const KafkaRecords& records, const std::vector<uint8_t>& none, Give give) {
  const auto& raw = records.batch.records;
  MutableBufferPtr views = Buffer::Allocate(raw.size() * sizeof(StringView));
  MutableBufferPtr validity;
  for (size_t i = 0; i < raw.size(); ++i) views->mutable_as<StringView>()[i] = StringView(give(raw[i]));
  if (std::find(none.begin(), none.end(), 1) != none.end()) {
    validity = Buffer::Allocate((raw.size() + 63) / 64 * sizeof(uint64_t));
    std::fill_n(validity->mutable_as<uint64_t>(), (raw.size() + 63) / 64, uint64_t{0});
    for (size_t i = 0; i < raw.size(); ++i) {
      if (none[i] == 0) validity->mutable_as<uint64_t>()[i / 64] |= uint64_t{1} << (i % 64);
    }
  }
  return Column::Flat(Type::Bytes(), static_cast<int32_t>(raw.size()), std::move(views), std::move(validity),
                      records.batch.pins);
}

// One value a record, by `give(record)`.
template <typename T, typename Give>
ColumnPtr Fixed(const Type& type, int32_t count, Give give) {
  MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(count) * sizeof(T));
  for (int32_t i = 0; i < count; ++i) values->mutable_as<T>()[i] = give(static_cast<size_t>(i));
  return Column::Flat(type, count, values, nullptr);
}

// `once`: a MAP has a key once, and the last value stands, as in Flink; else all are there, in their order.
ColumnPtr HeaderMaps(const Type& type, const KafkaRecords& records, bool once) {
  const int32_t count = static_cast<int32_t>(records.batch.records.size());
  ColumnBuilder builder(type, count);
  uint32_t next = 0;
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t end = records.header_end[static_cast<size_t>(i)];
    for (; next < end; ++next) {
      const KafkaHeader& header = records.headers[next];
      bool again = false;
      for (uint32_t later = next + 1; once && later < end && !again; ++later) {
        again = records.headers[later].name == header.name;
      }
      if (again) continue;
      builder.child(0).AppendString(header.name);
      if (header.null) {
        builder.child(1).AppendNull();
      } else {
        builder.child(1).AppendString(header.value);
      }
    }
    builder.AppendList();
  }
  return builder.Finish();
}

}  // namespace

std::vector<Field> KafkaColumns::Metadata() {
  return {{"topic", Type::String().WithNullable(false)},
          {"partition", Type(TypeId::kInt, false)},
          {"headers", Type::Map(Type::String().WithNullable(false), Type::Bytes()).WithNullable(false)},
          {"leader-epoch", Type(TypeId::kInt)},
          {"offset", Type(TypeId::kBigInt, false)},
          {"timestamp", Type::TimestampLtz(3).WithNullable(false)},
          {"timestamp-type", Type::String().WithNullable(false)}};
}

Result<KafkaColumns::From> KafkaColumns::MetadataKind(const Table& table, const TableColumn& column) {
  constexpr From kKinds[] = {From::kTopic,  From::kPartition, From::kHeaders,      From::kEpoch,
                             From::kOffset, From::kTimestamp, From::kTimestampType};
  const std::string& key = column.metadata_key.empty() ? column.name : column.metadata_key;
  const std::vector<Field> known = Metadata();
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != key) continue;
    if (column.type.EqualsIgnoringNullability(known[i].type)) return kKinds[i];
    return Status::User(fmt::format("table '{}': metadata '{}' is declared as {}", table.name, key,
                                    column.type.ToString()))
        .Hint(fmt::format("declare it as {} and cast it where it is used", known[i].type.ToString()));
  }
  std::string names;
  for (const Field& field : known) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", field.name);
  return Status::User(fmt::format("connector 'kafka' has no metadata '{}'", key)).Hint("there are " + names);
}

Result<KafkaColumns> KafkaColumns::Make(const Table& table, const ReadRequest& request,
                                        const KafkaTableOptions& options) {
  KafkaColumns columns;
  columns.with_headers_ = columns.with_envelope_ = request.envelope;
  size_t next = 0;
  for (const Field& field : request.schema.fields) {
    Source source{From::kValue, 0, field.type};
    if (field.name == kSplitColumn) {
      source.from = From::kSplit;
    } else if (field.name == kOffsetColumn) {
      source.from = From::kOffset;
    } else if (field.name == kRawColumn) {
      source.from = From::kRaw;
    } else {
      const TableColumn& column = table.columns[static_cast<size_t>(request.columns[next++])];
      const auto& keys = options.key_fields;
      if (column.kind == TableColumn::Kind::kMetadata) {
        ASSIGN_OR_RETURN(source.from, MetadataKind(table, column));
        columns.with_headers_ |= source.from == From::kHeaders;
        columns.with_timestamps_ |= source.from == From::kTimestamp;
      } else if (!options.key_in_value && std::find(keys.begin(), keys.end(), column.name) != keys.end()) {
        source.from = From::kKey;
        source.index = static_cast<size_t>(columns.in_key_.size());
        columns.in_key_.fields.push_back({column.name.substr(options.key_prefix.size()), field.type});
      } else {
        source.index = static_cast<size_t>(columns.in_value_.size());
        columns.in_value_.fields.push_back({column.name, field.type});
      }
    }
    columns.sources_.push_back(std::move(source));
  }
  return columns;
}

ColumnPtr KafkaColumns::Build(const Source& source, const Rows& rows) {
  const KafkaRecords& records = *rows.records;
  const auto& raw = records.batch.records;
  const int32_t count = static_cast<int32_t>(raw.size());
  switch (source.from) {
    case From::kSplit:
      return ConstantColumn(source.type, Value(int64_t{rows.split}), count);
    case From::kTopic:
      return ConstantColumn(source.type, Value(rows.partition->topic), count);
    case From::kPartition:
      return ConstantColumn(source.type, Value(int64_t{rows.partition->partition}), count);
    case From::kOffset:
      return Fixed<int64_t>(source.type, count, [&](size_t i) { return raw[i].offset; });
    case From::kTimestamp:
      return Fixed<int64_t>(source.type, count, [&](size_t i) {
        int64_t micros = 0;  // of records that are rejected, too
        return __builtin_mul_overflow(raw[i].timestamp_millis, 1000, &micros) ? 0 : micros;
      });
    case From::kTimestampType:
      return Fixed<StringView>(source.type, count, [&](size_t i) {
        // Static text, which outlives every column.
        return StringView(kTimestampTypes[std::min<size_t>(records.timestamp_type[i], 2)]);
      });
    case From::kHeaders:
      return HeaderMaps(source.type, records, /*once=*/true);
    case From::kEpoch: {
      ColumnBuilder builder(source.type, count);
      for (const int32_t epoch : records.leader_epoch) {
        if (epoch < 0) {
          builder.AppendNull();
        } else {
          builder.Append<int32_t>(epoch);
        }
      }
      return builder.Finish();
    }
    case From::kRaw:
      return Spans(records, records.no_value, [](const RawRecord& record) { return record.value; });
    case From::kValue:
    case From::kKey:
      break;
  }
  return nullptr;
}

std::vector<ColumnPtr> KafkaColumns::Assemble(const std::vector<ColumnPtr>& value,
                                              const std::vector<ColumnPtr>& key, const Rows& rows) const {
  std::vector<ColumnPtr> columns;
  columns.reserve(sources_.size());
  for (const Source& source : sources_) {
    columns.push_back(source.from == From::kValue ? value[source.index]
                      : source.from == From::kKey ? key[source.index]
                                                  : Build(source, rows));
  }
  return columns;
}

ColumnPtr KafkaColumns::Keys(const KafkaRecords& records) {
  return Spans(records, records.no_key, [](const RawRecord& record) { return record.key; });
}

ColumnPtr KafkaColumns::Headers(const KafkaRecords& records) {
  return HeaderMaps(HeadersType(), records, /*once=*/false);
}

std::vector<ColumnPtr> KafkaColumns::Empty() const {
  std::vector<ColumnPtr> columns;
  for (const Source& source : sources_) columns.push_back(Column::Null(source.type, 0));
  return columns;
}

}  // namespace caudal
