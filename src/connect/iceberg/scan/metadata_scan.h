// MetadataScan: the rows of a metadata table as they are when it is opened.
//
// Used by one thread at a time; blocks.
#pragma once

#include <memory>

#include "connect/iceberg/scan/iceberg_scan.h"
#include "connect/iceberg/scan/metadata_table.h"
#include "connect/iceberg/scan/scan_rows.h"

namespace caudal {

class MetadataScan : public ScanRows {
 public:
  // `options` name the table itself. User error if it or the snapshot is gone.
  static Result<std::unique_ptr<ScanRows>> Open(const IcebergOptions& options,
                                                std::vector<ScanColumn> columns, FileSystem* files, Env* env,
                                                const ScanShare& share, MetadataKind kind,
                                                const ScanPosition& from);

  Result<SourceRows> Next() override;
  const ScanPosition& position() const override { return position_; }

 private:
  MetadataScan(std::vector<ScanColumn> columns, const ScanPosition& from)
      : columns_(std::move(columns)), position_(from) {}

  std::vector<ScanColumn> columns_;
  ScanPosition position_;
  MetadataTable table_;
};

}  // namespace caudal
