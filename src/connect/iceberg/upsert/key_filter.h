// KeyFilter: leaves out the rows whose key the table has already, or an epoch on its way to it, or an earlier
// row of the same epoch. 'caudal.unique' = 'ignore' drops them, 'fail' stops at the first.
//
// One a task, whose rows have keys that no other task has; the task's thread. Keys of epochs that are not yet
// committed are kept in memory, 64 bytes each at most.
#pragma once

#include <deque>
#include <vector>

#include "api/sink.h"
#include "connect/iceberg/sink/iceberg_sink_plan.h"
#include "connect/iceberg/upsert/table_keys.h"
#include "data/row_key.h"

namespace caudal {

class KeyFilter {
 public:
  // Both outlive it.
  KeyFilter(const IcebergSinkPlan* plan, TableKeys* keys) : plan_(plan), keys_(keys) {}

  // The rows that are new. Data error that shows a key which is not, if it must not be.
  Result<Chunk> Keep(const Chunk& chunk);
  // What was kept since the last call goes to the table with this epoch.
  void Seal(Epoch epoch);

 private:
  // Hashes, to be asked for.
  class KeySet {
   public:
    // False: it is there already.
    bool Add(const iceberg::KeyHash& key);
    bool Contains(const iceberg::KeyHash& key) const;

   private:
    size_t PlaceOf(const iceberg::KeyHash& key) const;
    std::vector<iceberg::KeyHash> slots_;  // a power of two; zero: free
    size_t used_ = 0;
  };
  struct SealedKeys {
    Epoch epoch;
    KeySet keys;
  };
  bool OnItsWay(const iceberg::KeyHash& key) const;
  Status Refuse(const Chunk& chunk, int32_t row) const;

  const IcebergSinkPlan* plan_;
  TableKeys* keys_;
  RowKeys row_keys_;
  KeySet now_;
  std::deque<SealedKeys> sealed_;
};

}  // namespace caudal
