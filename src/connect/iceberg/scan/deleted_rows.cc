#include "connect/iceberg/scan/deleted_rows.h"

#include <fmt/format.h>

#include "data/column_view.h"
#include "format/parquet_reader.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/deletes/deletion_vector.h"

namespace caudal {
namespace {

// The ids of a position delete's columns, which are the same in every table.
constexpr int32_t kPathId = 2147483546;
constexpr int32_t kPositionId = 2147483545;

Result<iceberg::PositionSet> ReadVector(FileSystem* files, const iceberg::DataFile& vector) {
  ASSIGN_OR_RETURN(const std::string path, iceberg::PathOf(vector.file_path));
  ASSIGN_OR_RETURN(const auto file, files->Open(path));
  const int64_t size = vector.content_size_in_bytes.value_or(0);
  ASSIGN_OR_RETURN(const MutableBufferPtr bytes, file->Read(*vector.content_offset, size));
  Result<iceberg::PositionSet> positions =
      iceberg::DecodeDeletionVector({bytes->data(), bytes->size()}, vector.record_count);
  if (positions.ok()) return positions;
  return std::move(positions).status().At(fmt::format("deletion vector in '{}'", vector.file_path));
}

// Of a file that may hold positions of many data files.
Status AddPositions(FileSystem* files, const iceberg::DataFile& deletes, const std::string& data_file,
                    iceberg::PositionSet* positions) {
  if (deletes.file_format != "PARQUET" && deletes.file_format != "parquet") {
    return Status::User(
        fmt::format("'{}' is of format {}, which is not read", deletes.file_path, deletes.file_format));
  }
  ASSIGN_OR_RETURN(const std::string path, iceberg::PathOf(deletes.file_path));
  ASSIGN_OR_RETURN(const auto file, files->Open(path));
  ASSIGN_OR_RETURN(const auto reader, ParquetReader::Open(file.get(), path));
  Schema wanted{{{"", Type::String()}, {"", Type(TypeId::kBigInt)}}};
  for (int i = 0; i < reader->schema().size(); ++i) {
    const int32_t id = reader->field_ids()[static_cast<size_t>(i)];
    if (id == kPathId) wanted.fields[0].name = reader->schema()[i].name;
    if (id == kPositionId) wanted.fields[1].name = reader->schema()[i].name;
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
      if (paths[row].view() == data_file) positions->Add(rows[row]);
    }
  }
}

}  // namespace

Result<iceberg::PositionSet> ReadDeletedRows(FileSystem* files, const iceberg::ScanPlan& plan,
                                             const iceberg::ScanFile& file) {
  iceberg::PositionSet positions;
  for (const size_t number : file.deletes) {
    const iceberg::DataFile& deletes = plan.deletes[number].file;
    if (deletes.content == iceberg::FileContent::kEqualityDeletes) {
      return Status::User(
                 fmt::format("'{}' deletes rows by their values, which is not read yet", deletes.file_path))
          .Hint("compact the table with the engine that wrote it");
    }
    if (deletes.is_deletion_vector()) {
      ASSIGN_OR_RETURN(const iceberg::PositionSet vector, ReadVector(files, deletes));
      positions.AddAll(vector);
    } else {
      RETURN_IF_ERROR(AddPositions(files, deletes, file.data.file.file_path, &positions));
    }
  }
  return positions;
}

}  // namespace caudal
