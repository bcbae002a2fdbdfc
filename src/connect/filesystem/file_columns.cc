#include "connect/filesystem/file_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/filesystem/file_options.h"
#include "connect/filesystem/partition_path.h"
#include "data/value.h"

namespace caudal {
namespace {

constexpr std::string_view kPath = "file.path", kName = "file.name", kSize = "file.size",
                           kModified = "file.modification-time", kOffsetKey = "caudal.offset";

}  // namespace

std::vector<Field> FileColumns::Metadata() {
  return {{std::string(kPath), Type::String().WithNullable(false)},
          {std::string(kName), Type::String().WithNullable(false)},
          {std::string(kSize), Type(TypeId::kBigInt, false)},
          {std::string(kModified), Type::TimestampLtz(3).WithNullable(false)},
          {std::string(kOffsetKey), Type(TypeId::kBigInt, false)}};
}

Result<FileColumns> FileColumns::Make(const Table& table, const ReadRequest& request) {
  FileColumns columns;
  columns.null_partition_ = table.option("partition.default-name", kDefaultPartitionName);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const auto& keys = table.partition_keys;
    if (table.columns[i].kind == TableColumn::Kind::kPhysical &&
        std::find(keys.begin(), keys.end(), static_cast<int>(i)) == keys.end()) {
      columns.in_files_.push_back(table.columns[i].name);
    }
  }
  size_t next = 0;
  for (const Field& field : request.schema.fields) {
    Source source{From::kContent, 0, {}, field.type};
    if (field.name == kSplitColumn) {
      source.from = From::kSplit;
    } else if (field.name == kOffsetColumn) {
      source.from = From::kOffset;
    } else if (field.name == kRawColumn) {
      source.from = From::kRaw;
    } else {
      const int position = request.columns[next++];
      const TableColumn& column = table.columns[static_cast<size_t>(position)];
      const auto& keys = table.partition_keys;
      if (column.kind == TableColumn::Kind::kMetadata) {
        const std::vector<Field> known = Metadata();
        source.from = From::kMetadata;
        source.key = column.metadata_key.empty() ? column.name : column.metadata_key;
        if (std::none_of(known.begin(), known.end(), [&](const Field& f) { return f.name == source.key; })) {
          return Status::User(fmt::format("connector 'filesystem' has no metadata '{}'", source.key))
              .Hint(fmt::format("there are '{}', '{}', '{}', '{}' and '{}'", kPath, kName, kSize, kModified,
                                kOffsetKey));
        }
      } else if (std::find(keys.begin(), keys.end(), position) != keys.end()) {
        source.from = From::kPartition;
        source.key = column.name;
      } else {
        source.content = columns.content_.size();
        columns.content_.fields.push_back({column.name, field.type});
      }
    }
    columns.sources_.push_back(std::move(source));
  }
  return columns;
}

Result<std::vector<ColumnPtr>> FileColumns::Assemble(std::vector<ColumnPtr> content, const Rows& rows) const {
  std::vector<ColumnPtr> columns;
  columns.reserve(sources_.size());
  for (const Source& source : sources_) {
    switch (source.from) {
      case From::kContent:
        columns.push_back(content[static_cast<size_t>(source.content)]);
        break;
      case From::kPartition: {
        ASSIGN_OR_RETURN(const Value value, Partition(source, *rows.file));
        columns.push_back(ConstantColumn(source.type, value, rows.count));
        break;
      }
      case From::kMetadata:
        columns.push_back(MetadataColumn(source, rows));
        break;
      case From::kSplit:
        columns.push_back(ConstantColumn(source.type, Value(int64_t{rows.split}), rows.count));
        break;
      case From::kOffset:
        columns.push_back(OffsetColumn(source.type, rows));
        break;
      case From::kRaw:
        columns.push_back(RawColumn(source.type, rows));
        break;
    }
  }
  return columns;
}

std::vector<ColumnPtr> FileColumns::Empty() const {
  std::vector<ColumnPtr> columns;
  for (const Source& source : sources_) columns.push_back(Column::Null(source.type, 0));
  return columns;
}

Status FileColumns::Check(const ListedFile& file) const {
  for (const Source& source : sources_) {
    if (source.from == From::kPartition) RETURN_IF_ERROR(Partition(source, file).status());
  }
  return Status();
}

Result<Value> FileColumns::Partition(const Source& source, const ListedFile& file) const {
  for (const auto& [name, text] : ParsePartitionPath(file.name)) {
    if (name != source.key) continue;
    Result<Value> value = PartitionValue(text, source.type, null_partition_);
    if (value.ok()) return value;
    return std::move(value).status().At(
        fmt::format("partition column '{}' of file '{}'", source.key, file.info.path));
  }
  return Status::Data(fmt::format("file '{}' is in no folder '{}=…'", file.info.path, source.key))
      .Hint("the table is PARTITIONED BY this column, so its files are expected in such folders");
}

ColumnPtr FileColumns::MetadataColumn(const Source& source, const Rows& rows) const {
  const FileInfo& info = rows.file->info;
  if (source.key == kOffsetKey) return OffsetColumn(source.type, rows);
  Value value;
  if (source.key == kPath) {
    value = Value(info.path);
  } else if (source.key == kName) {
    value = Value(info.path.substr(info.path.find_last_of('/') + 1));
  } else if (source.key == kSize) {
    value = Value(info.size);
  } else {
    const int64_t micros = info.modified_micros / 1000 * 1000;  // of precision 3
    value = Value(micros);
  }
  return ConstantColumn(source.type, value, rows.count);
}

ColumnPtr FileColumns::OffsetColumn(const Type& type, const Rows& rows) {
  MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(rows.count) * sizeof(int64_t));
  int64_t* to = values->mutable_as<int64_t>();
  for (int32_t i = 0; i < rows.count; ++i) {
    to[i] = rows.records.empty() ? rows.first_row + i : rows.records[static_cast<size_t>(i)].offset;
  }
  return Column::Flat(type, rows.count, values, nullptr);
}

ColumnPtr FileColumns::RawColumn(const Type& type, const Rows& rows) {
  if (rows.records.empty()) return Column::Null(type, rows.count);
  MutableBufferPtr views = Buffer::Allocate(static_cast<size_t>(rows.count) * sizeof(StringView));
  for (int32_t i = 0; i < rows.count; ++i) {
    views->mutable_as<StringView>()[i] = StringView(rows.records[static_cast<size_t>(i)].value);
  }
  return Column::Flat(type, rows.count, views, nullptr, *rows.pins);
}

}  // namespace caudal
