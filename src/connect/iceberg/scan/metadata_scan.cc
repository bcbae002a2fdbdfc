#include "connect/iceberg/scan/metadata_scan.h"

#include <fmt/format.h>

#include "data/column_builder.h"

namespace caudal {

Result<std::unique_ptr<ScanRows>> MetadataScan::Open(const IcebergOptions& options,
                                                     std::vector<ScanColumn> columns, FileSystem* files,
                                                     Env* env, const ScanShare& share, MetadataKind kind,
                                                     const ScanPosition& from) {
  ASSIGN_OR_RETURN(const auto lake, IcebergLake::Open(options, files, env));
  ASSIGN_OR_RETURN(const iceberg::LoadedTable table, lake->catalog().LoadTable(options.name));
  const iceberg::Snapshot* snapshot = nullptr;
  if (share.snapshot.snapshot_id) {
    snapshot = table.metadata.FindSnapshot(*share.snapshot.snapshot_id);
    if (snapshot == nullptr) {
      return Status::User(
          fmt::format("snapshot {}, which was being read, is gone", *share.snapshot.snapshot_id));
    }
  }
  std::unique_ptr<MetadataScan> scan(new MetadataScan(std::move(columns), from));
  ASSIGN_OR_RETURN(scan->table_, ReadMetadataTable(lake->files(), table.metadata, snapshot, kind));
  BindScanColumns(scan->table_.schema, &scan->columns_);
  return std::unique_ptr<ScanRows>(std::move(scan));
}

Result<SourceRows> MetadataScan::Next() {
  SourceRows out;
  const auto first = static_cast<size_t>(position_.rows);
  if (first >= table_.rows.size()) return out;
  const size_t end = std::min(table_.rows.size(), first + Chunk::kMaxRows);
  std::vector<ColumnPtr> columns;
  for (const ScanColumn& column : columns_) {
    ColumnBuilder builder(column.type);
    for (size_t row = first; row < end; ++row) {
      switch (column.from) {
        case ScanColumn::From::kField:
          builder.AppendValue(table_.rows[row][static_cast<size_t>(column.field.id) - 1]);
          break;
        case ScanColumn::From::kSplit:
          builder.AppendValue(Value(int64_t{0}));
          break;
        case ScanColumn::From::kOffset:
          builder.AppendValue(Value(static_cast<int64_t>(row)));
          break;
        case ScanColumn::From::kRaw:
        case ScanColumn::From::kRowId:
        case ScanColumn::From::kLastChange:
          builder.AppendNull();
          break;
      }
    }
    columns.push_back(builder.Finish());
  }
  out.chunk = Chunk(std::move(columns), static_cast<int32_t>(end - first));
  position_.rows = static_cast<int64_t>(end);
  return out;
}

}  // namespace caudal
