// StreamScan: a table as it grows: the rows of one snapshot, or none, and then what each later snapshot adds,
// in their order.
//
// A snapshot that only rewrites files is passed over, since its rows were read before; one that takes rows
// away stops the read unless an option says that it is read as a changelog, or may be passed over too. Used
// by one thread at a time; blocks.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "connect/iceberg/scan/iceberg_scan.h"

namespace caudal {

// What a table's options say about reading it as it grows. Plain data.
struct StreamOptions {
  bool streaming = false;
  enum class Start : uint8_t {
    kTableScan,
    kLatest,
    kEarliest,
    kSnapshotId,
    kTimestamp
  } start = Start::kLatest;
  int64_t start_snapshot_id = 0;
  int64_t start_millis = 0;
  int64_t monitor_millis = 60'000;
  bool skips_overwrites = false, skips_deletes = false;
  bool changelog = false;  // rows that snapshots take away are read too

  // User error for what does not fit together.
  static Result<StreamOptions> From(const Table& table);
  // Of the rows that reading the table gives.
  ChangelogKinds kinds(const Table& table) const;
  // Where the read begins in the table as it is now.
  Result<ScanShare> StartIn(const iceberg::TableMetadata& table, const ChosenSnapshot& head) const;
};

class StreamScan : public ScanRows {
 public:
  static Result<std::unique_ptr<ScanRows>> Open(const ScanRequest& request, const SnapshotChoice& choice,
                                                const StreamOptions& stream, const ScanShare& share,
                                                const ScanPosition& from);

  Result<SourceRows> Next() override;
  const ScanPosition& position() const override { return position_; }
  int64_t pause_millis() const override { return std::max<int64_t>(stream_.monitor_millis, 1); }

 private:
  StreamScan(const ScanRequest& request, const SnapshotChoice& choice, const StreamOptions& stream,
             const ScanShare& share, const ScanPosition& from)
      : request_(request), choice_(choice), stream_(stream), share_(share), position_(from) {}
  // Loads the table anew, and finds what is to be read in it next.
  Status Refresh();
  // The files of the snapshot, unless it has none to read.
  Status Begin(int64_t snapshot_id);
  bool IsFirst(int64_t snapshot_id) const;
  // Of the declared PRIMARY KEY.
  std::vector<ScanColumn> KeyColumns() const;

  ScanRequest request_;
  SnapshotChoice choice_;
  StreamOptions stream_;
  ScanShare share_;
  ScanPosition position_;
  std::unique_ptr<IcebergLake> lake_;
  iceberg::TableMetadata table_;
  ScanSurroundings around_;
  std::deque<int64_t> waiting_;           // snapshots behind position_.snapshot, oldest first
  std::unique_ptr<FilesInTurn> planned_;  // of position_.snapshot
};

}  // namespace caudal
