// UpsertFiles: the data files of one task's epoch, run by run, and where in them the row of each key stands.
//
// A run is what was folded in memory together: no key is in it twice. A key that is in two runs has two rows
// in the files, the first of which the commit deletes. One thread at a time: the task's until Seal, then an
// I/O thread's.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "connect/iceberg/sink/data_file_writer.h"
#include "connect/iceberg/sink/row_partitions.h"
#include "connect/iceberg/upsert/key_places.h"
#include "connect/iceberg/upsert/table_keys.h"
#include "connect/iceberg/upsert/upsert_rows.h"

namespace caudal {

class UpsertFiles {
 public:
  // Both outlive it.
  UpsertFiles(const IcebergSinkPlan* plan, TableKeys* keys, int task)
      : plan_(plan), keys_(keys), task_(task), partitions_(plan) {}

  // A run: the rows that live go into files of their partitions. Empties `rows`.
  Status Write(UpsertRows* rows);
  // Makes all files whole and durable; what a manifest says of them, in the order of their numbers. May be
  // called again after an error.
  Result<std::vector<iceberg::DataFile>> Finish(Epoch epoch);

  // Of rows added and removed, what can be shown: those in the files by their footers, the keys that have
  // gone, and what was folded. REQUIRES: Finish was OK.
  UpsertRows::Folded Recount() const;

  // Where the keys are, run by run; IndexEntry::file is a number of a file of the epoch. Durable on return;
  // may be called again after an error. REQUIRES: not empty.
  Result<KeyPlacesFile> FinishPlaces();
  bool empty() const { return places_ == nullptr && waiting_.empty(); }
  int64_t buffered_bytes() const;

 private:
  using KeyRun = std::vector<iceberg::IndexEntry>;
  struct Rows {
    size_t batch = 0;
    std::vector<uint16_t> rows;
  };
  Result<size_t> FileFor(const std::string& key);
  Status WritePartition(const std::string& key, const std::vector<Rows>& parts, const UpsertRows& rows,
                        KeyRun* run);
  Status End(const std::string& key);
  // Out of memory, into the file of places.
  Status WritePlaces();

  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  int task_;
  RowPartitions partitions_;
  std::vector<std::unique_ptr<DataFileWriter>> files_;  // by number
  std::unordered_map<std::string, size_t> open_;        // number of a partition's file that takes rows
  std::unique_ptr<KeyPlacesWriter> places_;             // of the checkpoint; once there is a run
  std::vector<KeyRun> waiting_;                         // for that file to be made
  std::vector<iceberg::DataFile> finished_;
  UpsertRows::Folded folded_;
};

}  // namespace caudal
