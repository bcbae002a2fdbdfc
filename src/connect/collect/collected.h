// Collected: the changes that one table of tests has received, visible epoch by epoch, as a real target shows
// them. CollectRegistry: one for each table name.
//
// Owned by the test runner; stands for a target that outlives every crash. All methods are thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/sink.h"
#include "data/chunk.h"
#include "data/value.h"

namespace caudal {

struct Change {
  RowKind kind = RowKind::kInsert;
  ValueList values;  // one a column of the table
  bool operator==(const Change& other) const = default;
};

class Collected {
 public:
  // The committed changes from number `from` on.
  std::vector<Change> Committed(size_t from = 0) const;
  size_t committed_count() const;
  Epoch last_epoch() const;

  // For the sink: keeps prepared changes under a name; shows them, once; forgets what nobody committed.
  std::string Stage(std::vector<Change> changes);
  CommitResult Commit(Epoch epoch, const std::vector<std::string>& staged);
  void DropStaged();
  // For the runner: a target that answers this to the next `times` commits, or 0 times.
  void Refuse(CommitOutcome outcome, int times);

 private:
  struct Prepared {
    std::vector<Change> changes;
    bool committed = false;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Prepared> staged_;
  std::vector<Change> committed_;
  Epoch last_epoch_;
  uint64_t next_ = 0;
  CommitOutcome refusal_ = CommitOutcome::kCommitted;
  int refusals_left_ = 0;
};

class CollectRegistry {
 public:
  // Made on first use; stays until the registry goes.
  Collected* Get(const std::string& table);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Collected>> tables_;
};

}  // namespace caudal
