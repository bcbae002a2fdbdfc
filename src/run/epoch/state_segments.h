// StateSegments: which segments hold the state of each node now, those not yet written among them.
//
// Owned by the coordinator. Write alone runs on an I/O thread, and nothing else is called meanwhile.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "run/epoch/epoch_control.h"
#include "state/checkpoint_store.h"

namespace caudal {

class StateSegments {
 public:
  explicit StateSegments(int nodes) : nodes_(static_cast<size_t>(nodes)) {}

  void Restore(int node, const std::vector<SegmentRef>& segments);
  // What to ask for at the next barrier: everything now and then, so that a restore reads few segments.
  StateTable::SnapshotKind NextKind(int node) const;
  // Takes the snapshots out of the ack.
  void Add(NodeAck& ack);

  // Whether records wait to be written.
  bool dirty() const;
  // Writes them all into one file. After an error it may be called again for a later epoch.
  Status Write(CheckpointStore* store, int64_t number);
  std::vector<SegmentRef> refs(int node) const;
  // Of memory, in records.
  int64_t held_bytes() const;

 private:
  struct Segment {
    SegmentRef ref;
    std::string records;  // not yet written
  };
  struct Node {
    std::list<Segment> segments;  // oldest first
    int64_t full_bytes = 0;
    int64_t delta_bytes = 0;
    int64_t cleared_at = 0;  // the epoch whose full snapshot began the list
  };
  std::vector<Node> nodes_;
};

}  // namespace caudal
