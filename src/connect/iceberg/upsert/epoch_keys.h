// EpochKeys: what an epoch of all tasks did to keys, as one sequence; and which rows it takes away, for the
// head that a commit asserts.
//
// One thread. Made of what the checkpoint keeps, so that any process can, and read from there each time: an
// epoch may have more keys than memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connect/iceberg/sink/iceberg_committable.h"
#include "connect/iceberg/upsert/table_keys.h"
#include "iceberg/commit/row_delta.h"

namespace caudal {

class EpochKeys : public iceberg::RowDeletes {
 public:
  // `plan` and `keys` outlive it. Data error if the places of a part are gone.
  static Result<std::unique_ptr<EpochKeys>> Make(const IcebergSinkPlan* plan, TableKeys* keys,
                                                 const std::vector<IcebergCommittable>& parts);

  Result<iceberg::DeletedRows> Find(const iceberg::TableMetadata& table,
                                    const iceberg::Snapshot* head) override;
  // An index that is damaged, or stands at the head and yet says what that has not, is made anew, once.
  Result<bool> Reconsider(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) override;
  // Whether Find ever left rows of the epoch out, as 'caudal.unique' wants it.
  bool left_out() const { return left_out_; }
  // Of each key the last place; files are numbers in data_files(). It outlives what it returns.
  std::unique_ptr<iceberg::EntrySource> entries() const;
  int64_t most() const { return most_; }  // entries, at most
  const std::vector<std::string>& data_files() const { return data_files_; }

 private:
  EpochKeys(const IcebergSinkPlan* plan, TableKeys* keys) : plan_(plan), keys_(keys) {}
  class Merged;
  Result<iceberg::DeletedRows> FindRows();
  // Adds to `rows` where the index has the keys of `block`.
  Status FindFormer(std::span<const iceberg::IndexEntry> block, iceberg::DeletedRows* rows);

  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  struct Part {
    std::unique_ptr<KeyPlaces> places;
    uint32_t first_file = 0;  // in data_files_
  };
  std::vector<Part> parts_;
  int64_t most_ = 0;
  std::vector<std::string> data_files_;
  bool left_out_ = false;
  bool reconsidered_ = false;
};

}  // namespace caudal
