#include "iceberg/deletes/position_deletes.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/column_builder.h"
#include "data/column_view.h"
#include "format/parquet_reader.h"
#include "format/parquet_writer.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/single_value.h"

namespace caudal::iceberg {
namespace {

// A file that is made whole before anybody has a name for it.
class MemoryFile : public WritableFile {
 public:
  Status Append(std::string_view bytes) override {
    bytes_ += bytes;
    return Status();
  }
  Status Sync() override { return Status(); }
  Status Close() override { return Status(); }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Gathers rows until they make a chunk.
class RowWriter {
 public:
  explicit RowWriter(ParquetWriter* writer) : writer_(writer) {}

  Status Add(const std::string& path, int64_t position) {
    paths_.AppendString(path);
    rows_.Append<int64_t>(position);
    return rows_.size() < Chunk::kMaxRows ? Status() : Flush();
  }
  Status Flush() {
    const int32_t count = rows_.size();
    if (count == 0) return Status();
    return writer_->Append({paths_.Finish(), rows_.Finish()}, {nullptr, count});
  }

 private:
  ParquetWriter* writer_;
  ColumnBuilder paths_{caudal::Type::String().WithNullable(false)};
  ColumnBuilder rows_{caudal::Type(caudal::TypeId::kBigInt, false)};
};

// Calls `each` for every place that the file names.
template <typename Each>
Status ForEachPlace(FileSystem* files, const DataFile& deletes, const Each& each) {
  if (deletes.file_format != "PARQUET" && deletes.file_format != "parquet") {
    return Status::User(
        fmt::format("'{}' is of format {}, which is not read", deletes.file_path, deletes.file_format));
  }
  ASSIGN_OR_RETURN(const std::string path, PathOf(deletes.file_path));
  ASSIGN_OR_RETURN(const auto file, files->Open(path));
  ASSIGN_OR_RETURN(const auto reader, ParquetReader::Open(file.get(), path));
  caudal::Schema wanted{{{"", caudal::Type::String()}, {"", caudal::Type(caudal::TypeId::kBigInt)}}};
  for (int i = 0; i < reader->schema().size(); ++i) {
    const int32_t id = reader->field_ids()[static_cast<size_t>(i)];
    if (id == kDeletedPathId) wanted.fields[0].name = reader->schema()[i].name;
    if (id == kDeletedPositionId) wanted.fields[1].name = reader->schema()[i].name;
  }
  if (wanted.fields[0].name.empty() || wanted.fields[1].name.empty()) {
    return Status::Data(fmt::format("'{}' is no file of position deletes: it lacks their columns", path));
  }
  RETURN_IF_ERROR(reader->Project(wanted, 0));
  for (;;) {
    ASSIGN_OR_RETURN(const Chunk chunk, reader->Next());
    if (chunk.empty()) return Status();
    const ColumnView<StringView> paths(*chunk.column(0));
    const ColumnView<int64_t> rows(*chunk.column(1));
    for (int32_t row = 0; row < chunk.size(); ++row) {
      if (paths.IsNull(row) || rows.IsNull(row) || rows[row] < 0) {
        return Status::Data(fmt::format("'{}' has a position delete without a place", path));
      }
      each(paths[row].view(), rows[row]);
    }
  }
}

}  // namespace

Status AddDeletedPositions(FileSystem* files, const DataFile& deletes, const std::string& data_file,
                           PositionSet* positions) {
  return ForEachPlace(files, deletes, [&](std::string_view path, int64_t position) {
    if (path == data_file) positions->Add(position);
  });
}

Status AddAllDeletedPositions(FileSystem* files, const DataFile& deletes,
                              std::map<std::string, PositionSet, std::less<>>* positions) {
  auto last = positions->end();  // rows of one data file stand together
  return ForEachPlace(files, deletes, [&](std::string_view path, int64_t position) {
    if (last == positions->end() || last->first != path) last = positions->find(path);
    if (last == positions->end()) last = positions->emplace(path, PositionSet()).first;
    last->second.Add(position);
  });
}

Result<PositionDeleteFile> WritePositionDeletes(const std::map<std::string, const PositionSet*>& positions) {
  const caudal::Schema schema{{{"file_path", caudal::Type::String().WithNullable(false)},
                               {"pos", caudal::Type(caudal::TypeId::kBigInt, false)}}};
  MemoryFile file;
  ParquetOptions options;
  options.field_ids = {kDeletedPathId, kDeletedPositionId};
  ASSIGN_OR_RETURN(const auto writer, ParquetWriter::Make(schema, options, &file));
  RowWriter rows(writer.get());
  int64_t lowest = INT64_MAX, highest = 0;
  for (const auto& [path, set] : positions) {
    for (const int64_t position : set->ToVector()) {
      RETURN_IF_ERROR(rows.Add(path, position));
      lowest = std::min(lowest, position);
      highest = std::max(highest, position);
    }
  }
  RETURN_IF_ERROR(rows.Flush());
  ASSIGN_OR_RETURN(const ParquetFooter footer, writer->Finish());
  PositionDeleteFile made;
  made.file.content = FileContent::kPositionDeletes;
  made.file.record_count = footer.rows;
  made.file.file_size_in_bytes = file.size();
  made.file.split_offsets = footer.group_offsets;
  // Whole paths: by a bound that is cut no reader can tell which files are meant.
  made.file.lower_bounds[kDeletedPathId] = positions.begin()->first;
  made.file.upper_bounds[kDeletedPathId] = positions.rbegin()->first;
  const Type number(TypeId::kLong);
  made.file.lower_bounds[kDeletedPositionId] = EncodeSingleValue(number, Value(lowest));
  made.file.upper_bounds[kDeletedPositionId] = EncodeSingleValue(number, Value(highest));
  if (positions.size() == 1) made.file.referenced_data_file = positions.begin()->first;
  made.bytes = file.Take();
  return made;
}

}  // namespace caudal::iceberg
