// StateSegments: which segments hold the state of each node now, those not yet written among them.
//
// Tasks add segments while they make them, from any thread; what waits is written in files of its own as soon
// as it is worth one, so that a snapshot is never in memory as a whole. What waits is charged to the budget,
// and there is a point from which no task should make more. Owned by the coordinator, whose thread calls all
// but Add, TakesMore and Write; Write blocks, on an I/O thread, one at a time.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "run/epoch/epoch_control.h"
#include "state/checkpoint_store.h"

namespace caudal {

// How much of a snapshot may be in memory; tests have smaller ones.
struct SnapshotBytes {
  int64_t worth_a_file = int64_t{8} << 20;  // before all segments of an epoch are there
  int64_t most_waiting = int64_t{32} << 20;
};

class StateSegments {
 public:
  // `budget` outlives it; null: nothing is charged.
  explicit StateSegments(int nodes, MemoryBudget* budget = nullptr, SnapshotBytes limits = {})
      : budget_(budget), limits_(limits), nodes_(static_cast<size_t>(nodes)) {}
  ~StateSegments();

  void Restore(int node, const std::vector<SegmentRef>& segments);
  // The next epoch's segments are about to come. By node, what to ask for: everything now and then, so that a
  // restore reads few segments, and where something of the last epoch could not be kept.
  std::vector<StateTable::SnapshotKind> Begin(int64_t number);
  // Any thread. Whether enough waits for a file.
  bool Add(TableSegment segment);
  // Any thread. False while too much waits, unless it waits for a file that could not be written: then the
  // epoch is lost, and the next can only begin when this one has come to its end. As much as may wait goes
  // with the next one, more than that is dropped.
  bool TakesMore();
  // A task of the node has given all its segments.
  void Complete(int node, StateTable::SnapshotKind kind);

  // Whether Write is due; `all`: no more segments come.
  bool due(bool all) const;
  // Writes what waits, up to some files' worth, into one. After an error it waits for a later epoch.
  Status Write(CheckpointStore* store);
  // Whether a task was refused since and may make segments again: it has to be woken.
  bool TakeRelief();
  std::vector<SegmentRef> refs(int node) const;
  // Of memory, in records.
  int64_t held_bytes() const;

 private:
  struct Segment {
    SegmentRef ref;
    int64_t ticket = 0;  // of its records, which are not yet written; 0 = they are
  };
  struct Records {
    int node = 0;
    int64_t ticket = 0;
    SegmentRef ref;
    std::string bytes;
  };
  struct Node {
    std::vector<Segment> segments;  // oldest first
    int64_t full_bytes = 0;
    int64_t delta_bytes = 0;
    int64_t cleared_at = 0;   // the epoch whose full snapshot began the list
    bool incomplete = false;  // something was dropped
  };

  // With mutex_ held.
  StateTable::SnapshotKind NextKind(const Node& state) const;
  void BeginFull(int node);
  void Hold(int64_t bytes);
  std::vector<Records> TakeBatch();
  // The segment has its place, if a full snapshot has not replaced it meanwhile.
  void Place(const Records& written);

  MemoryBudget* budget_;
  const SnapshotBytes limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Node> nodes_;
  std::deque<Records> waiting_;  // in the order in which they came
  int64_t waiting_bytes_ = 0;
  int64_t held_bytes_ = 0;  // waiting, or being written
  int64_t last_ticket_ = 0;
  int64_t number_ = 0;   // of the epoch
  int files_ = 0;        // that Write has begun for it
  bool failed_ = false;  // one of them
  bool refused_ = false;
};

}  // namespace caudal
