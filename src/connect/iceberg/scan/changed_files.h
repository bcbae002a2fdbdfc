// ChangedFiles: the rows that one snapshot took away and added, as a changelog: those that went, then those
// that came. With a key a row that went and one that came are an update of it, -U and +U; others are -D and
// +I.
//
// One thread; blocks. What it refers to outlives it. Of a snapshot that took rows away and added some it
// keeps 16 bytes in memory for each row that went.
#pragma once

#include <memory>
#include <vector>

#include "connect/iceberg/scan/files_in_turn.h"
#include "data/row_key.h"
#include "iceberg/index/key_hash.h"
#include "iceberg/scan/snapshot_changes.h"

namespace caudal {

class ChangedFiles : public FilesInTurn {
 public:
  // `key`: its columns, bound; none: the table has no key. Reads the key of each changed row.
  static Result<std::unique_ptr<FilesInTurn>> Make(const ScanSurroundings* around,
                                                   const iceberg::TableMetadata* table,
                                                   iceberg::SnapshotChanges changes,
                                                   const std::vector<ScanColumn>& key);

 private:
  ChangedFiles(const ScanSurroundings* around, const iceberg::TableMetadata* table,
               iceberg::SnapshotChanges changes)
      : FilesInTurn(around, table), changes_(std::move(changes)), columns_(around->columns) {}
  // Which keys have rows that went and rows that came.
  Status FindUpdated(const std::vector<ScanColumn>& key);
  bool IsUpdated(const iceberg::KeyHash& key) const;

  size_t files() const override { return changes_.rows.size(); }
  const iceberg::LiveFile& file(size_t number) const override { return changes_.rows[number].data; }
  Result<std::unique_ptr<DataFileReader>> Open(size_t number, int64_t first) override {
    return DataFileReader::OpenChanged(around_.files, table_, changes_.rows[number], columns_, around_.share,
                                       first);
  }
  Chunk Finish(size_t number, Chunk chunk) override;

  iceberg::SnapshotChanges changes_;
  std::vector<ScanColumn> columns_;        // what the read asks for, then the key if some is updated
  std::vector<int> key_;                   // in columns_
  std::vector<iceberg::KeyHash> updated_;  // ascending
  uint64_t seed_ = 0;
  RowKeys keys_;
};

}  // namespace caudal
