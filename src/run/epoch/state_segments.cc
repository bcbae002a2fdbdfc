#include "run/epoch/state_segments.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace caudal {
namespace {

// Epochs that a restore has to read.
constexpr size_t kManyEpochs = 64;
constexpr size_t kSomeEpochs = 8;

int64_t HeldBy(const std::string& records) { return static_cast<int64_t>(records.capacity()); }

}  // namespace

StateSegments::~StateSegments() { Hold(-held_bytes_); }

void StateSegments::Hold(int64_t bytes) {
  held_bytes_ += bytes;
  if (budget_ != nullptr) budget_->Charge(bytes);
}

void StateSegments::Restore(int node, const std::vector<SegmentRef>& segments) {
  std::lock_guard lock(mutex_);
  Node& state = nodes_[static_cast<size_t>(node)];
  for (const SegmentRef& ref : segments) {
    state.segments.push_back({ref, 0});
    const bool first =
        CheckpointStore::EpochOfSegment(ref.file) == CheckpointStore::EpochOfSegment(segments.front().file);
    (first ? state.full_bytes : state.delta_bytes) += ref.length;
  }
}

StateTable::SnapshotKind StateSegments::NextKind(const Node& state) const {
  size_t epochs = 0;
  bool some_wait = false;  // which will be in the files of one
  std::optional<Epoch> last;
  for (const Segment& segment : state.segments) {
    some_wait |= segment.ticket != 0;
    if (segment.ticket != 0) continue;
    const std::optional<Epoch> epoch = CheckpointStore::EpochOfSegment(segment.ref.file);
    epochs += last != epoch ? 1 : 0;
    last = epoch;
  }
  epochs += some_wait ? 1 : 0;
  const bool much = epochs >= kSomeEpochs && state.delta_bytes > 2 * state.full_bytes;
  const bool full = much || epochs >= kManyEpochs || state.incomplete;
  return full ? StateTable::SnapshotKind::kFull : StateTable::SnapshotKind::kDelta;
}

std::vector<StateTable::SnapshotKind> StateSegments::Begin(int64_t number) {
  std::lock_guard lock(mutex_);
  number_ = number;
  files_ = 0;
  failed_ = false;
  std::vector<StateTable::SnapshotKind> kinds;
  for (const Node& state : nodes_) kinds.push_back(NextKind(state));
  // At once, so that what it replaces is not written for nothing.
  for (size_t node = 0; node < kinds.size(); ++node) {
    if (kinds[node] == StateTable::SnapshotKind::kFull) BeginFull(static_cast<int>(node));
  }
  return kinds;
}

// Every task gives everything at this barrier: nothing older counts.
void StateSegments::BeginFull(int node) {
  Node& state = nodes_[static_cast<size_t>(node)];
  if (state.cleared_at == number_) return;
  const auto older = [node](const Records& records) { return records.node == node; };
  for (const Records& records : waiting_) {
    if (!older(records)) continue;
    waiting_bytes_ -= HeldBy(records.bytes);
    Hold(-HeldBy(records.bytes));
  }
  std::erase_if(waiting_, older);
  state = Node();
  state.cleared_at = number_;
}

bool StateSegments::Add(TableSegment made) {
  // Tables reserve room for a whole segment before they know how little there is.
  if (made.records.capacity() > made.records.size() + made.records.size() / 4) made.records.shrink_to_fit();
  std::lock_guard lock(mutex_);
  const bool full = made.kind == StateTable::SnapshotKind::kFull;
  if (full) BeginFull(made.node);
  Node& state = nodes_[static_cast<size_t>(made.node)];
  if (failed_ && held_bytes_ + HeldBy(made.records) > limits_.most_waiting) {
    state.incomplete = true;
    return false;
  }
  Records records{made.node, ++last_ticket_, {}, std::move(made.records)};
  records.ref.table = std::move(made.table);
  (full ? state.full_bytes : state.delta_bytes) += static_cast<int64_t>(records.bytes.size());
  waiting_bytes_ += HeldBy(records.bytes);
  Hold(HeldBy(records.bytes));
  state.segments.push_back({records.ref, records.ticket});
  waiting_.push_back(std::move(records));
  return !failed_ && waiting_bytes_ >= limits_.worth_a_file;
}

bool StateSegments::TakesMore() {
  std::lock_guard lock(mutex_);
  const bool takes = failed_ || held_bytes_ < limits_.most_waiting;
  refused_ |= !takes;
  return takes;
}

void StateSegments::Complete(int node, StateTable::SnapshotKind kind) {
  std::lock_guard lock(mutex_);
  if (kind == StateTable::SnapshotKind::kFull) BeginFull(node);  // even if there is nothing
}

bool StateSegments::due(bool all) const {
  std::lock_guard lock(mutex_);
  return !failed_ && !waiting_.empty() && (all || waiting_bytes_ >= limits_.worth_a_file);
}

std::vector<StateSegments::Records> StateSegments::TakeBatch() {
  std::vector<Records> batch;
  for (int64_t bytes = 0; !waiting_.empty() && bytes < 2 * limits_.worth_a_file;) {
    bytes += HeldBy(waiting_.front().bytes);
    waiting_bytes_ -= HeldBy(waiting_.front().bytes);
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return batch;
}

void StateSegments::Place(const Records& written) {
  std::vector<Segment>& segments = nodes_[static_cast<size_t>(written.node)].segments;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (segment->ticket != written.ticket) continue;
    *segment = {written.ref, 0};
    return;
  }
}

Status StateSegments::Write(CheckpointStore* store) {
  std::vector<Records> batch;
  int64_t number;
  int file;
  {
    std::lock_guard lock(mutex_);
    batch = TakeBatch();
    number = number_;
    file = ++files_;
  }
  std::vector<std::string_view> records;
  std::vector<SegmentRef*> refs;
  for (Records& one : batch) {
    records.push_back(one.bytes);
    refs.push_back(&one.ref);
  }
  Status status = store->WriteSegment(number, file, records, refs);
  std::lock_guard lock(mutex_);
  if (status.ok()) {
    for (const Records& one : batch) {
      Place(one);
      Hold(-HeldBy(one.bytes));
    }
    return status;
  }
  for (const Records& one : batch) waiting_bytes_ += HeldBy(one.bytes);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(batch.begin()),
                  std::make_move_iterator(batch.end()));
  failed_ = true;
  return status;
}

bool StateSegments::TakeRelief() {
  std::lock_guard lock(mutex_);
  const bool takes = failed_ || held_bytes_ < limits_.most_waiting;
  return takes && std::exchange(refused_, false);
}

int64_t StateSegments::held_bytes() const {
  std::lock_guard lock(mutex_);
  return held_bytes_;
}

std::vector<SegmentRef> StateSegments::refs(int node) const {
  std::lock_guard lock(mutex_);
  std::vector<SegmentRef> refs;
  for (const Segment& segment : nodes_[static_cast<size_t>(node)].segments) refs.push_back(segment.ref);
  return refs;
}

}  // namespace caudal
