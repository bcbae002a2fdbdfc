// EpochKeys: what an epoch of all tasks did to keys, as one list; and which rows it takes away, for the head
// that a commit asserts.
//
// One thread. Made of what the checkpoint keeps, so that any process can.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "connect/iceberg/sink/iceberg_committable.h"
#include "connect/iceberg/upsert/table_keys.h"
#include "iceberg/commit/row_delta.h"

namespace caudal {

class EpochKeys : public iceberg::RowDeletes {
 public:
  // Reads the places of all parts; `plan` and `keys` outlive it. Data error if they are gone.
  static Result<std::unique_ptr<EpochKeys>> Make(const IcebergSinkPlan* plan, TableKeys* keys,
                                                 const std::vector<IcebergCommittable>& parts);

  Result<iceberg::DeletedRows> Find(const iceberg::TableMetadata& table,
                                    const iceberg::Snapshot* head) override;
  // An index that is damaged, or stands at the head and yet says what that has not, is made anew, once.
  Result<bool> Reconsider(const iceberg::TableMetadata& table, const iceberg::Snapshot* head) override;
  // Whether Find ever left rows of the epoch out, as 'caudal.unique' wants it.
  bool left_out() const { return left_out_; }
  // Of each key the last place, ascending; files are numbers in data_files().
  const std::vector<iceberg::IndexEntry>& entries() const { return entries_; }
  const std::vector<std::string>& data_files() const { return data_files_; }

 private:
  EpochKeys(const IcebergSinkPlan* plan, TableKeys* keys) : plan_(plan), keys_(keys) {}
  void Fold();
  Result<iceberg::DeletedRows> FindRows();
  // Calls `former` for each entry whose key the index has, with the place there.
  using Former = std::function<void(const iceberg::IndexEntry&, const std::string&, uint32_t)>;
  Status FindFormer(const Former& former);

  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  std::vector<iceberg::IndexEntry> entries_;
  std::vector<std::string> data_files_;
  bool left_out_ = false;
  bool reconsidered_ = false;
  std::vector<iceberg::IndexEntry> replaced_;  // rows of the epoch that later ones of it replaced
};

}  // namespace caudal
