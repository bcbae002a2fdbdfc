// EpochControl: what the tasks of a job tell its coordinator. Thread-safe; no call blocks.
//
// NodeAck: all that one node of one task hands over at a barrier, but for the segments of its tables, which
// go ahead of it one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/sink.h"
#include "api/source.h"
#include "base/status.h"
#include "state/manifest.h"
#include "state/state_table.h"

namespace caudal {

// A segment of a table of one node, as it is made at a barrier.
struct TableSegment {
  int node = 0;  // position in the plan
  Epoch epoch;
  StateTable::SnapshotKind kind = StateTable::SnapshotKind::kDelta;
  std::string table;
  std::string records;
};

struct EdgeRows {
  int reader = 0;  // plan node
  int port = 0;    // its input
  int64_t rows = 0;
};

// A row that was dead.
struct DeadExample {
  std::string error_class;
  std::string message;
  std::string place;  // of its record or in the SQL; empty: not known
};

struct NodeAck {
  int node = 0;  // position in the plan; the dead-letter node follows the last
  int task = 0;
  Epoch epoch;
  Watermark watermark;           // the last one sent
  std::vector<int64_t> rows_in;  // by input; since the job began, as all counts here
  int64_t rows_out = 0;
  std::vector<EdgeRows> edges;  // rows sent, by reader
  std::vector<CountedFate> fates;
  std::optional<DeadExample> first_dead;  // of this epoch
  StateTable::SnapshotKind kind = StateTable::SnapshotKind::kDelta;
  int64_t state_rows = 0;
  int64_t state_bytes = 0;
  std::vector<SplitState> splits;                     // sources
  int64_t rows_read = 0;                              // sources: rows and rejected records that readers gave
  int64_t records_passed = 0;                         // sources: the same as positions count it
  std::vector<std::pair<int64_t, int64_t>> arrivals;  // sources: arrival in ms, rows; of this epoch alone
  std::unique_ptr<SealedEpoch> sealed;                // sinks; null when there is nothing to prepare
  int64_t sealed_bytes = 0;                           // of memory that `sealed` holds
};

class EpochControl {
 public:
  virtual ~EpochControl() = default;
  virtual void OnAck(NodeAck ack) = 0;
  // Before the ack of its node and task.
  virtual void OnSegment(TableSegment segment) = 0;
  // Whether a node may make another segment; if not, its task is woken when it may.
  virtual bool TakesSegment() = 0;
  virtual void OnFailure(Status status) = 0;
  virtual void OnSplitFinished(int node, const Split& split) = 0;
  // A task of a source has no row any more, nor will have.
  virtual void OnSourceEnded() = 0;
  // A source has read its share of rows, or memory is short: an epoch should begin soon.
  virtual void RequestEpoch() = 0;
  // A reader met another schema: the job ends with a savepoint, to be planned anew.
  virtual void OnNewSchema() = 0;
  // What the operators of `node` give at the barrier now on its way.
  virtual StateTable::SnapshotKind snapshot_kind(int node) const = 0;
};

}  // namespace caudal
