#include "connect/iceberg/scan/data_file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "connect/iceberg/scan/deleted_rows.h"
#include "data/column_builder.h"
#include "data/column_view.h"
#include "data/text/number_text.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {
namespace {

// The value of a column in files that are older than it. Values of other types are not read yet.
Result<Value> DefaultOf(const iceberg::Field& field) {
  if (!field.initial_default) return Value();
  const nlohmann::json json = nlohmann::json::parse(*field.initial_default, nullptr, false);
  switch (field.type.id) {
    case iceberg::TypeId::kBoolean:
      if (json.is_boolean()) return Value(json.get<bool>());
      break;
    case iceberg::TypeId::kInt:
    case iceberg::TypeId::kLong:
      if (json.is_number_integer()) return Value(json.get<int64_t>());
      break;
    case iceberg::TypeId::kFloat:
    case iceberg::TypeId::kDouble:
      if (json.is_number()) return Value(json.get<double>());
      break;
    case iceberg::TypeId::kString:
      if (json.is_string()) return Value(json.get<std::string>());
      break;
    case iceberg::TypeId::kDecimal: {
      int128_t unscaled = 0;
      const bool parsed = json.is_string() && ParseDecimal(json.get<std::string>(), field.type.precision,
                                                           field.type.scale, &unscaled);
      if (parsed) return Value(unscaled);
      break;
    }
    default:
      break;
  }
  return Status::User(fmt::format("column '{}' has the default {}, which is not read yet for {}", field.name,
                                  *field.initial_default, iceberg::TypeText(field.type)))
      .Hint("leave the column out of the declaration");
}

// What a file lacks may be said by its partition: files that were not written for Iceberg leave such columns
// out.
const Value* IdentityOf(const iceberg::TableMetadata& table, const iceberg::LiveFile& data, int32_t id) {
  const iceberg::PartitionSpec* spec = table.FindSpec(data.spec_id);
  for (size_t i = 0; spec != nullptr && i < spec->fields.size(); ++i) {
    const iceberg::PartitionField& field = spec->fields[i];
    const bool is_column = field.source_ids.size() == 1 && field.source_ids[0] == id;
    if (is_column && field.transform == "identity" && i < data.file.partition.size())
      return &data.file.partition[i];
  }
  return nullptr;
}

// In SQL's physical form.
Value SqlValue(const Type& type, const Value& value) {
  const int128_t* wide = std::get_if<int128_t>(&value.data);
  if (wide != nullptr && type.physical() == Physical::kInt64) return Value(static_cast<int64_t>(*wide));
  const int64_t* number = std::get_if<int64_t>(&value.data);
  constexpr int64_t kMicrosPerMilli = 1'000;
  if (number != nullptr && type.id() == TypeId::kTime) return Value(*number / kMicrosPerMilli);
  return value;
}

}  // namespace

Result<std::unique_ptr<DataFileReader>> DataFileReader::OpenFile(FileSystem* files,
                                                                 const iceberg::LiveFile& live,
                                                                 const std::vector<ScanColumn>& columns,
                                                                 int split, int64_t first) {
  const iceberg::DataFile& data = live.file;
  if (data.file_format != "PARQUET" && data.file_format != "parquet") {
    return Status::User(
        fmt::format("'{}' is of format {}, which is not read", data.file_path, data.file_format));
  }
  std::unique_ptr<DataFileReader> made(new DataFileReader(columns, split, first));
  ASSIGN_OR_RETURN(made->path_, iceberg::PathOf(data.file_path));
  ASSIGN_OR_RETURN(made->file_, files->Open(made->path_));
  ASSIGN_OR_RETURN(made->reader_, ParquetReader::Open(made->file_.get(), made->path_));
  if (made->reader_->rows() != data.record_count) {
    return Status::Data(fmt::format("'{}' has {} rows, and the manifest says {}", made->path_,
                                    made->reader_->rows(), data.record_count));
  }
  return made;
}

Result<std::unique_ptr<DataFileReader>> DataFileReader::Open(
    FileSystem* files, const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
    const iceberg::ScanFile& file, const std::vector<ScanColumn>& columns, int split, int64_t first) {
  ASSIGN_OR_RETURN(auto made, OpenFile(files, file.data, columns, split, first));
  ASSIGN_OR_RETURN(made->deleted_, ReadDeletedRows(files, plan, file));
  RETURN_IF_ERROR(made->Bind(table, file.data));
  return made;
}

Result<std::unique_ptr<DataFileReader>> DataFileReader::OpenChanged(FileSystem* files,
                                                                    const iceberg::TableMetadata& table,
                                                                    const iceberg::ChangedRows& rows,
                                                                    const std::vector<ScanColumn>& columns,
                                                                    int split, int64_t first) {
  ASSIGN_OR_RETURN(auto made, OpenFile(files, rows.data, columns, split, first));
  if (rows.only) {
    made->only_ = rows.positions.ToVector();
  } else {
    made->deleted_.AddAll(rows.positions);
  }
  RETURN_IF_ERROR(made->Bind(table, rows.data));
  return made;
}

Status DataFileReader::Bind(const iceberg::TableMetadata& table, const iceberg::LiveFile& data) {
  const std::vector<int32_t>& ids = reader_->field_ids();
  if (std::all_of(ids.begin(), ids.end(), [](int32_t id) { return id < 0; })) {
    return Status::User(fmt::format("'{}' has no field ids", path_))
        .Hint("files that were not written for Iceberg are found by a name mapping, which is not read yet");
  }
  for (const ScanColumn& column : columns_) {
    Source source;
    if (column.from == ScanColumn::From::kField) {
      const auto found = std::find(ids.begin(), ids.end(), column.field.id);
      if (found != ids.end()) {
        source.column = wanted_.size();
        wanted_.fields.push_back(
            {reader_->schema()[static_cast<int>(found - ids.begin())].name, ReadType(column.type)});
      } else if (const Value* value = IdentityOf(table, data, column.field.id)) {
        source.constant = SqlValue(column.type, *value);
      } else {
        ASSIGN_OR_RETURN(const Value initial, DefaultOf(column.field));
        source.constant = SqlValue(column.type, initial);
      }
    } else if (column.from == ScanColumn::From::kRowId || column.from == ScanColumn::From::kLastChange) {
      source = BindLineage(column, data, &wanted_);
    }
    sources_.push_back(std::move(source));
  }
  return reader_->Project(wanted_, row_);
}

DataFileReader::Source DataFileReader::BindLineage(const ScanColumn& column, const iceberg::LiveFile& data,
                                                   Schema* wanted) const {
  Source source;
  const bool is_id = column.from == ScanColumn::From::kRowId;
  const std::vector<int32_t>& ids = reader_->field_ids();
  const auto found = std::find(ids.begin(), ids.end(), is_id ? kRowIdField : kLastChangeField);
  if (found != ids.end()) {
    source.column = wanted->size();
    wanted->fields.push_back(
        {reader_->schema()[static_cast<int>(found - ids.begin())].name, Type(TypeId::kBigInt)});
  }
  if (!is_id) source.constant = Value(data.sequence_number);
  if (is_id && data.file.first_row_id) source.constant = Value(*data.file.first_row_id);
  return source;
}

// What a file says of a row wins; where it says nothing, the row came with the file.
ColumnPtr DataFileReader::Lineage(size_t i, const Chunk& read) const {
  const ScanColumn& column = columns_[i];
  const Source& source = sources_[i];
  const int32_t rows = read.physical_rows();
  const int64_t* base = std::get_if<int64_t>(&source.constant.data);
  const int64_t step = column.from == ScanColumn::From::kRowId ? 1 : 0;
  const ColumnPtr said = source.column < 0 ? Column::Null(column.type, rows) : read.column(source.column);
  const ColumnView<int64_t> values(*said);
  ColumnBuilder made(column.type, rows);
  for (int32_t row = 0; row < rows; ++row) {
    if (!said->IsNull(row)) {
      made.Append<int64_t>(values[row]);
    } else if (base != nullptr) {
      made.Append<int64_t>(*base + step * (row_ + row));
    } else {
      made.AppendNull();
    }
  }
  return made.Finish();
}

Result<ColumnPtr> DataFileReader::Convert(size_t i, const Chunk& read) const {
  const ScanColumn& column = columns_[i];
  const int32_t rows = read.physical_rows();
  switch (column.from) {
    case ScanColumn::From::kSplit:
      return ConstantColumn(column.type, Value(int64_t{split_}), rows);
    case ScanColumn::From::kRaw:
      return Column::Null(column.type, rows);
    case ScanColumn::From::kOffset: {
      ColumnBuilder offsets(column.type, rows);
      for (int32_t row = 0; row < rows; ++row) offsets.Append<int64_t>(row_ + row);
      return offsets.Finish();
    }
    case ScanColumn::From::kRowId:
    case ScanColumn::From::kLastChange:
      return Lineage(i, read);
    default:
      break;
  }
  const Source& source = sources_[i];
  if (source.column < 0) {
    return source.constant.is_null() ? Column::Null(column.type, rows)
                                     : ConstantColumn(column.type, source.constant, rows);
  }
  Result<ColumnPtr> narrow = NarrowColumn(read.column(source.column), column.type);
  if (narrow.ok()) return narrow;
  return std::move(narrow).status().At(fmt::format("column '{}' of '{}'", column.name, path_));
}

Result<bool> DataFileReader::PassOver() {
  const auto next = std::lower_bound(only_->begin(), only_->end(), row_);
  if (next == only_->end()) return false;
  if (*next < reader_->GroupEnd(row_)) return true;
  row_ = *next;
  RETURN_IF_ERROR(reader_->Project(wanted_, row_));
  return true;
}

SelectionPtr DataFileReader::Wanted(int32_t rows) const {
  auto selection = std::make_unique<Selection>();
  if (only_) {
    for (auto each = std::lower_bound(only_->begin(), only_->end(), row_);
         each != only_->end() && *each < row_ + rows; ++each) {
      selection->rows.push_back(static_cast<uint16_t>(*each - row_));
    }
  } else {
    for (int32_t row = 0; row < rows; ++row) {
      if (!deleted_.Contains(row_ + row)) selection->rows.push_back(static_cast<uint16_t>(row));
    }
  }
  return SelectionPtr(std::move(selection));
}

Result<FileRows> DataFileReader::Next() {
  if (only_) {
    ASSIGN_OR_RETURN(const bool more, PassOver());
    if (!more) return FileRows();
  }
  ASSIGN_OR_RETURN(const Chunk read, reader_->Next());
  const int32_t rows = read.physical_rows();
  if (rows == 0) return FileRows();
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < columns_.size(); ++i) {
    ASSIGN_OR_RETURN(columns.emplace_back(), Convert(i, read));
  }
  FileRows out{Chunk(std::move(columns), rows), row_};
  if (only_ || deleted_.size() > 0) out.chunk = out.chunk.WithSelection(Wanted(rows));
  row_ += rows;
  return out;
}

}  // namespace caudal
