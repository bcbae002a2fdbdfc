#include "run/epoch/state_segments.h"

namespace caudal {
namespace {

// A file holds one epoch of every table and task.
constexpr size_t kManyFiles = 64;
constexpr size_t kSomeFiles = 8;

}  // namespace

void StateSegments::Restore(int node, const std::vector<SegmentRef>& segments) {
  Node& state = nodes_[static_cast<size_t>(node)];
  for (const SegmentRef& ref : segments) {
    state.segments.push_back({ref, {}});
    (state.full_bytes == 0 ? state.full_bytes : state.delta_bytes) += ref.length;
  }
}

StateTable::SnapshotKind StateSegments::NextKind(int node) const {
  const Node& state = nodes_[static_cast<size_t>(node)];
  size_t files = 0;
  const std::string* last = nullptr;
  for (const Segment& segment : state.segments) {
    files += last == nullptr || *last != segment.ref.file ? 1 : 0;
    last = &segment.ref.file;
  }
  const bool much = files >= kSomeFiles && state.delta_bytes > 2 * state.full_bytes;
  const bool full = much || files >= kManyFiles;
  return full ? StateTable::SnapshotKind::kFull : StateTable::SnapshotKind::kDelta;
}

void StateSegments::Add(NodeAck& ack) {
  Node& state = nodes_[static_cast<size_t>(ack.node)];
  const bool full = ack.kind == StateTable::SnapshotKind::kFull;
  if (full && state.cleared_at != ack.epoch.number) {
    // Every task gives everything at this barrier: nothing older counts.
    state = Node();
    state.cleared_at = ack.epoch.number;
  }
  for (TableSnapshot& table : ack.tables) {
    const int64_t bytes = static_cast<int64_t>(table.records.size());
    (full ? state.full_bytes : state.delta_bytes) += bytes;
    SegmentRef ref;
    ref.table = std::move(table.table);
    state.segments.push_back({std::move(ref), std::move(table.records)});
  }
  ack.tables.clear();
}

bool StateSegments::dirty() const {
  for (const Node& node : nodes_) {
    for (const Segment& segment : node.segments) {
      if (!segment.records.empty()) return true;
    }
  }
  return false;
}

Status StateSegments::Write(CheckpointStore* store, int64_t number) {
  std::vector<std::string_view> records;
  std::vector<SegmentRef*> refs;
  for (Node& node : nodes_) {
    for (Segment& segment : node.segments) {
      if (segment.records.empty()) continue;
      records.push_back(segment.records);
      refs.push_back(&segment.ref);
    }
  }
  RETURN_IF_ERROR(store->WriteSegment(number, records, refs));
  for (Node& node : nodes_) {
    // Clearing, or assigning an empty one, would keep the memory for as long as the segment is referred to.
    for (Segment& segment : node.segments) std::string().swap(segment.records);
  }
  return Status();
}

int64_t StateSegments::held_bytes() const {
  size_t bytes = 0;
  for (const Node& node : nodes_) {
    for (const Segment& segment : node.segments) bytes += segment.records.capacity();
  }
  return static_cast<int64_t>(bytes);
}

std::vector<SegmentRef> StateSegments::refs(int node) const {
  std::vector<SegmentRef> refs;
  for (const Segment& segment : nodes_[static_cast<size_t>(node)].segments) refs.push_back(segment.ref);
  return refs;
}

}  // namespace caudal
