// IcebergScan: one snapshot of a table, or a share of its data files, read file by file in the order of the
// manifests.
//
// Used by one thread at a time; blocks.
#pragma once

#include <memory>
#include <string>

#include "api/source.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/scan/planned_files.h"
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
  // Of a table that is read as it grows: first all rows of the snapshot, or what the snapshot added, then
  // what was added behind it. kOnce: all rows of the snapshot, and no more.
  enum class Mode : uint8_t { kOnce, kAllThenAdded, kAdded } mode = Mode::kOnce;

  std::string ToText() const;  // what a split is named
  static std::optional<ScanShare> Parse(std::string_view text);
};

// What a reader of a table is asked for, whatever it reads of it. Plain data.
struct ScanRequest {
  IcebergOptions options;
  Table declared;
  std::vector<ScanColumn> columns;  // not bound yet
  std::vector<ScanFilter> filters;
  FileSystem* files = nullptr;
  Env* env = nullptr;
};

// Whether what is asked for fits a schema of the table: all that is declared must fit the current one. User
// error that names the column.
Status CheckColumnsOf(const ScanRequest& request, const iceberg::TableMetadata& table,
                      const iceberg::Schema& schema);

class IcebergScan : public ScanRows {
 public:
  // Plans the share. User error if the table or the snapshot is gone or the columns do not fit it.
  static Result<std::unique_ptr<ScanRows>> Open(const ScanRequest& request, const ScanShare& share,
                                                const ScanPosition& from);
  // The table as the share was found in, and how its columns are read.
  static Status Bind(const ScanRequest& request, const ScanShare& share, const iceberg::TableMetadata& table,
                     ScanSurroundings* around);

  Result<SourceRows> Next() override;
  const ScanPosition& position() const override { return position_; }

 private:
  explicit IcebergScan(const ScanPosition& from) : position_(from) {}

  ScanPosition position_;
  ScanSurroundings around_;
  iceberg::TableMetadata table_;
  std::unique_ptr<PlannedFiles> planned_;  // null: the table has no rows yet
};

}  // namespace caudal
