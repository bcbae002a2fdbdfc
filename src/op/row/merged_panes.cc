#include "op/row/merged_panes.h"

#include <algorithm>

namespace caudal {
namespace {

// Windows move forward, so what is looked for lies near the ends of a list.
PaneList From(PaneList panes, int64_t first) {
  size_t skip = 0;
  while (skip < panes.size() && panes.slice(skip) < first) ++skip;
  return panes.subspan(skip);
}
PaneList UpTo(PaneList panes, int64_t end) {
  size_t count = panes.size();
  while (count > 0 && panes.slice(count - 1) >= end) --count;
  return panes.first(count);
}
// The panes at the front before `end`, and those at the back from `first` on.
PaneList FrontBefore(PaneList panes, int64_t end) {
  size_t count = 0;
  while (count < panes.size() && panes.slice(count) < end) ++count;
  return panes.first(count);
}
PaneList BackFrom(PaneList panes, int64_t first) {
  size_t at = panes.size();
  while (at > 0 && panes.slice(at - 1) >= first) --at;
  return panes.subspan(at);
}

}  // namespace

void MergedPanes::MergeInto(const char* from, Row* row) const {
  if (*row != nullptr) return rows_->Merge(row->get(), from);
  *row = spare_->Take();
  rows_->Assign(row->get(), from);
}

void MergedPanes::Reset() {
  for (Checkpoint& checkpoint : checkpoints_) spare_->Give(&checkpoint.row);
  checkpoints_.clear();
  spare_->Give(&prefix_);
  spare_->Give(&last_);
  last_valid_ = false;
  middle_ = kNowhere;
  merged_end_ = kNowhere;
  *held_bytes_ -= own_bytes_;
  own_bytes_ = 0;
}

bool MergedPanes::Rebuild(PaneList window, int64_t end) {
  Reset();
  for (const Pane pane : window) {
    if (pane.from_end() > end) return false;
  }
  middle_ = end;
  merged_end_ = end;
  const int64_t count = static_cast<int64_t>(window.size());
  const int64_t stride = (count + most_checkpoints_ - 1) / most_checkpoints_;
  Row merged;
  int64_t since = 0;
  for (int64_t i = count - 1; i >= 0; --i) {
    const Pane pane = window[static_cast<size_t>(i)];
    MergeInto(pane.row, &merged);
    ++since;
    // A checkpoint has all panes of its slice.
    if (i > 0 && (since < stride || window.slice(static_cast<size_t>(i - 1)) == pane.slice)) continue;
    since = 0;
    Row copy;
    if (i == 0) {
      copy = std::move(merged);
    } else {
      MergeInto(merged.get(), &copy);
    }
    checkpoints_.push_back({pane.slice, std::move(copy)});
  }
  // The oldest checkpoint is the largest row; beside them stand prefix_ and last_.
  const int64_t largest =
      static_cast<int64_t>(rows_->width()) + rows_->ExtraBytes(checkpoints_.back().row.get());
  own_bytes_ = static_cast<int64_t>(sizeof(*this)) + static_cast<int64_t>(checkpoints_.size() + 2) * largest;
  *held_bytes_ += own_bytes_;
  return true;
}

bool MergedPanes::Advance(PaneList window, int64_t end, bool onto_last) {
  const PaneList fresh = BackFrom(window, merged_end_);
  for (const Pane pane : fresh) {
    if (pane.from_end() > end) return false;
  }
  for (const Pane pane : fresh) {
    MergeInto(pane.row, &prefix_);
    if (onto_last) rows_->Merge(last_.get(), pane.row);
  }
  merged_end_ = end;
  return true;
}

const char* MergedPanes::Compose(PaneList window, int64_t first) {
  while (!checkpoints_.empty() && checkpoints_.back().slice < first) {
    spare_->Give(&checkpoints_.back().row);
    checkpoints_.pop_back();
  }
  const int64_t checked = checkpoints_.empty() ? middle_ : checkpoints_.back().slice;
  const PaneList head = FrontBefore(window, checked);
  const char* only = nullptr;
  int parts = 0;
  auto part = [&](const char* row) {
    only = row;
    ++parts;
  };
  for (const Pane pane : head) part(pane.row);
  if (!checkpoints_.empty()) part(checkpoints_.back().row.get());
  if (prefix_ != nullptr) part(prefix_.get());
  if (parts == 1) return only;

  // A window whose first slice has a pane loses that pane in the next one, so that its row is of no use
  // there: merged into the row that all keys share, a sketch of 4 KiB never leaves the nearest cache.
  spare_->Give(&last_);
  last_valid_ = window.slice(0) > first;
  if (last_valid_) last_ = spare_->Take();
  char* into = last_valid_ ? last_.get() : spare_->scratch();
  bool assigned = false;
  auto merge = [&](const char* row) {
    if (assigned) return rows_->Merge(into, row);
    rows_->Assign(into, row);
    assigned = true;
  };
  for (const Pane pane : head) merge(pane.row);
  if (!checkpoints_.empty()) merge(checkpoints_.back().row.get());
  if (prefix_ != nullptr) merge(prefix_.get());
  return into;
}

const char* MergedPanes::Merge(PaneList panes, int64_t first, int64_t end) {
  const PaneList window = UpTo(From(panes, first), end);
  if (window.empty()) return nullptr;
  const bool none_left = last_valid_ && window.slice(0) == last_first_;
  if (none_left && window.size() == last_count_) return last_.get();
  last_valid_ = none_left;
  bool complete;
  if (middle_ == kNowhere || middle_ <= first) {
    complete = Rebuild(window, end);
  } else {
    complete = Advance(window, end, none_left);
  }
  if (!complete) {
    Reset();
    return nullptr;
  }
  last_first_ = window.slice(0);
  last_count_ = window.size();
  return last_valid_ ? last_.get() : Compose(window, first);
}

}  // namespace caudal
