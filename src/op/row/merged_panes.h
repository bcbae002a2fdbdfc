// MergedPanes: the panes of one key merged for windows that move forward, at a few merges a window.
//
// Two stacks: what lies before a middle is kept merged from some of its panes up to the middle, what lies
// behind it merged from the middle on; when a window has passed the middle, it becomes the new end. Derived
// from the panes, hence in no snapshot, and dropped by Reset when a pane that was merged changes. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "op/row/accumulator_row.h"
#include "op/row/spare_rows.h"
#include "state/panes.h"

namespace caudal {

class MergedPanes : public PaneAttachment {
 public:
  static constexpr int64_t kMostCheckpoints = 16;

  // All outlive it; `held_bytes` is kept informed of its own share. `checkpoints`: rows that it keeps of what
  // lies before the middle; the more, the less is merged again when windows lie close to one another.
  MergedPanes(const AccumulatorRow* rows, SpareRows* spare, int64_t* held_bytes,
              int64_t checkpoints = kMostCheckpoints)
      : rows_(rows), spare_(spare), held_bytes_(held_bytes), most_checkpoints_(checkpoints) {}
  ~MergedPanes() override { Reset(); }

  // The merged panes of the slices [first, end): a row that is valid until the next call of any that shares
  // `spare`, or null when there is no pane or one of them does not count for this window (from_end).
  // REQUIRES: neither bound goes back, `panes` is ordered by slice, and no pane before the last `end` was
  // changed or added since.
  const char* Merge(PaneList panes, int64_t first, int64_t end);
  void Reset();
  void Prefetch() const {
    __builtin_prefetch(last_.get());
    __builtin_prefetch(prefix_.get());
    if (!checkpoints_.empty()) __builtin_prefetch(checkpoints_.back().row.get());
  }

 private:
  static constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();

  using Row = SpareRows::Row;
  struct Checkpoint {
    int64_t slice;  // the row merges the slices [slice, middle_)
    Row row;
  };

  // Merges into the row, which is made of the first pane if it is null.
  void MergeInto(const char* from, Row* row) const;
  // False if a pane does not count for a window with that end.
  bool Rebuild(PaneList window, int64_t end);
  bool Advance(PaneList window, int64_t end, bool onto_last);
  const char* Compose(PaneList window, int64_t first);

  const AccumulatorRow* rows_;
  SpareRows* spare_;
  int64_t* held_bytes_;
  int64_t most_checkpoints_;
  int64_t own_bytes_ = 0;  // as estimated by the last Rebuild
  int64_t middle_ = kNowhere;
  int64_t merged_end_ = kNowhere;        // panes before it are in prefix_ or a checkpoint
  std::vector<Checkpoint> checkpoints_;  // oldest last
  Row prefix_;                           // the slices [middle_, merged_end_); null: no pane there
  // The last window's own row, and which panes are in it: first and last slice and how many.
  Row last_;
  bool last_valid_ = false;
  int64_t last_first_ = 0;
  size_t last_count_ = 0;
};

}  // namespace caudal
