// TableKeys: the index of a table's keys, brought to the snapshot that is asked for: by what a commit of this
// sink did, by the files that others added, or anew from the whole table.
//
// Owned by the sink, shared by its writers, which ask, and its committer, which advances it. Advance and Note
// may block for as long as it takes to read the table's keys.
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "connect/iceberg/scan/scan_columns.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/index/key_index.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal {

class TableKeys {
 public:
  // `plan`: of a table with a key; outlives it.
  static Result<std::unique_ptr<TableKeys>> Open(const IcebergSinkPlan* plan);
  ~TableKeys();

  // KeyIndex::Find, never of an index that is just being made. Any thread.
  Status Find(std::span<const iceberg::KeyHash> keys, const iceberg::KeyIndex::Found& found);
  // The index is being made anew, which takes long. Any thread.
  bool busy() const { return busy_; }
  std::optional<iceberg::KeyIndex::Stamp> stamp() const { return index_->stamp(); }
  // The newest epoch of this process that the index has, or that brought no keys. Any thread.
  Epoch committed() const;
  void NoteCommitted(Epoch epoch);
  // For the name of a data file: no other of this process has it. Any thread.
  int64_t NextFileNumber() { return next_file_.fetch_add(1); }
  // Brings the index to `head` (null: an empty table). External error (backoff) if the metadata is older than
  // what the index has seen.
  Status Advance(const iceberg::TableMetadata& table, const iceberg::Snapshot* head);
  // The same without what the index says now.
  Status MakeAnew(const iceberg::TableMetadata& table, const iceberg::Snapshot* head);
  // The same two for the head of the branch as the catalog has it.
  Status AdvanceToHead();
  Status MakeAnewAtHead();
  // A commit upon `parent` (0: none) was acknowledged as `stamp`: its keys, `most` at most, in `data_files`.
  // Does nothing if the index stands elsewhere; it is then brought along by Advance.
  void Note(int64_t parent, const iceberg::KeyIndex::Stamp& stamp, iceberg::EntrySource* entries,
            int64_t most, const std::vector<std::string>& data_files);

 private:
  explicit TableKeys(const IcebergSinkPlan* plan);
  // Asks the catalog for the table, and brings the index to its head, anew or not.
  Status BringToHead(bool anew);
  Status AdvanceLocked(const iceberg::TableMetadata& table, const iceberg::Snapshot* head);
  Status Older() const;
  Status Bring(const iceberg::TableMetadata& table, const iceberg::Snapshot* head,
               const std::optional<iceberg::KeyIndex::Stamp>& from, const iceberg::KeyIndex::Stamp& wanted);
  Status Rebuild(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                 const iceberg::KeyIndex::Stamp& stamp);
  // False: more was changed than that files were added, or rewritten with the same rows.
  Result<bool> AddNewFiles(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                           const iceberg::Snapshot& head, const iceberg::KeyIndex::Stamp& from);
  Status AddFiles(const iceberg::TableMetadata& table, const iceberg::ScanPlan& plan,
                  const std::vector<const iceberg::ScanFile*>& files);
  void StartMerge();
  void EndMerge();

  const IcebergSinkPlan* plan_;
  iceberg::TableFiles files_;
  std::vector<int> columns_;  // of the key, in what is read
  std::unique_ptr<iceberg::KeyIndex> index_;
  mutable std::shared_mutex mutex_;  // held alone by Advance and Note, shared by Find
  Epoch committed_;                  // guarded by mutex_
  std::atomic<bool> busy_ = false;
  std::atomic<int64_t> next_file_ = 0;
  std::atomic<bool> merging_ = false;
  std::thread merger_;
};

}  // namespace caudal
