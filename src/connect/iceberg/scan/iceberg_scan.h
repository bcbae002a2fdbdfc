// IcebergScan: one snapshot of a table, or a share of its data files, read file by file in the order of the
// manifests.
//
// Used by one thread at a time; blocks.
#pragma once

#include <memory>
#include <string>

#include "api/source.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/data_file_reader.h"
#include "connect/iceberg/scan/scan_columns.h"
#include "connect/iceberg/scan/scan_rows.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

// Which snapshot a table's options name. Plain data.
struct SnapshotChoice {
  std::string snapshot_id, as_of_millis, branch, tag;  // as written; at most one is not empty

  static Result<SnapshotChoice> From(const Table& table);
};

// A snapshot and the schema that it is read with.
struct ChosenSnapshot {
  std::optional<int64_t> snapshot_id;  // nothing: the table has no rows yet
  int32_t schema_id = 0;

  // User error if there is no such snapshot.
  static Result<ChosenSnapshot> Of(const SnapshotChoice& choice, const iceberg::TableMetadata& table);
};

// One split: every `shares`-th data file of a snapshot.
struct ScanShare {
  std::string table_uuid;
  ChosenSnapshot snapshot;
  int share = 0;
  int shares = 1;

  std::string ToText() const;  // what a split is named
  static std::optional<ScanShare> Parse(std::string_view text);
};

class IcebergScan : public ScanRows {
 public:
  // Plans the share. User error if the table or the snapshot is gone or the columns do not fit it.
  static Result<std::unique_ptr<IcebergScan>> Open(const IcebergOptions& options, const Table& declared,
                                                   std::vector<ScanColumn> columns, FileSystem* files,
                                                   Env* env, const ScanShare& share,
                                                   const ScanPosition& from);

  Result<SourceRows> Next() override;
  const ScanPosition& position() const override { return position_; }

 private:
  IcebergScan(std::vector<ScanColumn> columns, FileSystem* files, const ScanPosition& from)
      : columns_(std::move(columns)), files_(files), position_(from) {}
  Status OpenFile();

  std::vector<ScanColumn> columns_;
  FileSystem* files_;
  ScanPosition position_;
  ScanShare share_;
  iceberg::TableMetadata table_;
  iceberg::ScanPlan plan_;
  std::vector<const iceberg::ScanFile*> mine_;
  std::unique_ptr<DataFileReader> reader_;  // of the file number position_.files
};

}  // namespace caudal
