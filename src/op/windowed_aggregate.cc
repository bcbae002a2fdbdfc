#include "op/windowed_aggregate.h"

#include <algorithm>
#include <limits>

#include "op/lateness.h"
#include "op/row/key_types.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr int64_t kStepNanos = 10'000'000;
constexpr int64_t kDropsAStep = 20'000;
constexpr size_t kFiresALook = 32;  // keys between two looks at the clock
// With newest_window a window's size holds so many firings: the more, the fewer panes are kept beside those
// of one window; the fewer, the less is computed that nobody sees.
constexpr int64_t kFiringsASize = 2;
constexpr size_t kBatch = static_cast<size_t>(WindowEmitter::kBatch);
// Of rows for one turn of a firing, a batch of keys: slower, and a table of many keys that are seldom seen
// would not be done when the next firing is due.
constexpr int64_t kRowsATurn = 2048;
constexpr int64_t kTurnsOfAFew = 2;  // a firing of a batch of keys, and what it drops

}  // namespace

WindowedAggregate::WindowedAggregate(AggregateNode node, const Schema& input, const Schema& output,
                                     std::unique_ptr<AccumulatorRow> accumulators, bool batch)
    : node_(std::move(node)),
      key_types_(ColumnTypes(input, node_.keys)),
      output_(output),
      clock_column_(batch ? -1 : input.Find(kClockColumn).value_or(-1)),
      accumulators_(std::move(accumulators)) {
  for (size_t i = 0; i < key_types_.size(); ++i) key_types_[i] = output.fields[i].type;
}

Status WindowedAggregate::Open(const OperatorContext& context) {
  TimeZone zone;
  if (node_.window.local_time_zone) {
    ASSIGN_OR_RETURN(zone, TimeZone::Find(context.evaluator.time_zone));
  }
  windows_ = std::make_unique<WindowSlices>(node_.window, std::move(zone));
  std::string types;
  for (const Type& type : key_types_) types += type.WithNullable(true).ToString() + ",";
  panes_ = std::make_unique<Panes>("panes", types, windows_->Words(), accumulators_.get());
  emitter_ = std::make_unique<WindowEmitter>(node_, key_types_, output_, accumulators_.get(), windows_.get());
  if (node_.early_fire_delay > 0) panes_->RememberTouched();
  fired_end_ = closed_end_ = windows_->LastClosedEnd(Watermark::kNone);
  env_ = context.env;
  charge_.set_budget(context.budget);
  absorbed_ = context.fates->Get(Fate::kAbsorbed, "Aggregate");
  return Status();
}

std::vector<StateTable*> WindowedAggregate::state() {
  std::vector<StateTable*> tables = {panes_.get()};
  if (emitter_->emitted() != nullptr) tables.push_back(emitter_->emitted());
  return tables;
}

Status WindowedAggregate::OnRestore(const Watermark& watermark) {
  watermark_ = watermark;
  target_ = watermark;
  fired_end_ = closed_end_ = windows_->LastClosedEnd(watermark.event);
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  panes_->DropBefore(windows_->FirstNeededSlice(fired_end_), kNoLimit);
  if (emitter_->emitted() != nullptr) emitter_->emitted()->DropBefore(fired_end_ + 1, kNoLimit);
  Charge();
  return Status();
}

void WindowedAggregate::Charge() {
  int64_t bytes = panes_->bytes() + emitter_->merged_bytes();
  if (emitter_->emitted() != nullptr) bytes += emitter_->emitted()->bytes();
  charge_.Set(bytes);
}

bool WindowedAggregate::FirstOpenWindow(int64_t slice, int64_t clock, int64_t* from_end) {
  if (clock != cached_clock_) {
    cached_clock_ = clock;
    cached_closed_ = windows_->LastClosedEnd(clock);
  }
  *from_end = Panes::kAllEnds;
  if (windows_->LastEnd(slice) <= cached_closed_) return false;
  // Windows that have been fired ask for no pane any more; the others must not see the row.
  if (windows_->FirstEnd(slice) <= cached_closed_ && cached_closed_ > fired_end_) {
    *from_end = windows_->NextEnd(cached_closed_);
  }
  return true;
}

void WindowedAggregate::Assign(const Chunk& chunk, Output& out) {
  const RowSet rows = chunk.rows();
  const TimeColumn time(*chunk.column(node_.window.time_column));
  const ClockColumn clock(clock_column_ < 0 ? nullptr : chunk.column(clock_column_).get());
  accepted_.clear();
  slices_.clear();
  from_ends_.clear();
  std::vector<uint16_t> late, closed, timeless;
  // Rows of one slice mostly follow one another.
  int64_t last_slice = std::numeric_limits<int64_t>::min();
  int64_t first_end = 0, last_end = 0;
  for (int32_t i = 0; i < rows.count; ++i) {
    const uint16_t row = static_cast<uint16_t>(rows[i]);
    if (time.IsNull(row)) {
      timeless.push_back(row);
      continue;
    }
    const int64_t at = time[row];
    const int64_t slice = windows_->SliceOf(at);
    if (slice != last_slice) {
      last_slice = slice;
      last_end = windows_->LastEnd(slice);
      first_end = windows_->FirstEnd(slice);
    }
    int64_t from_end = Panes::kAllEnds;
    if (last_end < first_end) {
      ++*absorbed_;  // between two windows
    } else if (clock[row] >= at && !FirstOpenWindow(slice, clock[row], &from_end)) {
      late.push_back(row);
    } else if (last_end <= closed_end_) {
      closed.push_back(row);  // in time by its own split, which the others did not wait for
    } else {
      if (fired_end_ < closed_end_ && first_end <= closed_end_) {
        from_end = std::max(from_end, windows_->NextEnd(closed_end_));
      }
      accepted_.push_back(row);
      slices_.push_back(slice);
      from_ends_.push_back(from_end);
    }
  }
  RejectNullTime(chunk, std::move(timeless), out);
  RejectLate(chunk, std::move(late), out);
  RejectRows(chunk, std::move(closed), Fate::kLate, "idle",
             {"the row's windows were closed while its split was idle"}, out);
}

Result<Progress> WindowedAggregate::OnChunk(int port, const Chunk& chunk, Output& out) {
  Assign(chunk, out);
  const RowSet accepted = {accepted_.data(), static_cast<int32_t>(accepted_.size())};
  keys_.Encode(chunk, node_.keys, accepted);
  panes_->Locate(keys_, slices_, from_ends_, &rows_);
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i] >= SeenEnd()) continue;  // in no window that was fired
    const int32_t at = static_cast<int32_t>(i);
    WindowEmitter::Forget(*panes_->Find(keys_.key(at), keys_.hash(at)));
  }
  accumulators_->Update(rows_.data(), chunk, accepted);
  *absorbed_ += accepted.count;
  AdvanceBesideRows(std::max<int64_t>(1, chunk.size() / kRowsATurn), out);
  Charge();
  return Progress::kDone;
}

bool WindowedAggregate::NextWindow(int64_t* end) const {
  int64_t slice;
  int64_t from = std::numeric_limits<int64_t>::min();
  while (panes_->NextSlice(from, &slice)) {
    *end = std::max(windows_->FirstEnd(slice), windows_->NextEnd(fired_end_));
    if (*end <= windows_->LastEnd(slice)) return true;
    from = slice + 1;
  }
  return false;
}

bool WindowedAggregate::FiringCanWait() const {
  const int64_t apart = windows_->slices_per_window() / kFiringsASize;
  return node_.newest_window && target_.event != Watermark::kEnd && closed_end_ < SeenEnd() + apart;
}

int64_t WindowedAggregate::NewestEnd(const KeyEntry& entry) const {
  const PaneList panes = panes_->panes(entry);
  for (size_t i = panes.size(); i-- > 0;) {
    const int64_t slice = panes.slice(i);
    const int64_t end = std::min(firing_end_, windows_->LastEnd(slice));
    if (end <= fired_end_) break;  // so are those of the panes before it
    if (windows_->FirstEnd(slice) <= end && panes[i].from_end() <= end) return end;
  }
  return fired_end_;
}

void WindowedAggregate::StartFiring(int64_t end) {
  firing_end_ = end;
  firing_.clear();
  firing_at_ = 0;
  walked_groups_ = 0;
  firing_walks_ = node_.newest_window;  // whose windows are not the same for all keys
  if (firing_walks_) return;
  // Either look at every key, or collect the keys of the window's slices, whichever are fewer.
  int64_t listed = 0;
  int64_t slice;
  for (int64_t from = windows_->FirstSlice(end); panes_->NextSlice(from, &slice) && slice < end;
       from = slice + 1) {
    listed += panes_->slice_size(slice);
  }
  firing_walks_ = listed >= panes_->key_count();
  if (firing_walks_) return;
  for (int64_t from = windows_->FirstSlice(end); panes_->NextSlice(from, &slice) && slice < end;
       from = slice + 1) {
    panes_->AppendKeys(slice, &firing_);
  }
  std::sort(firing_.begin(), firing_.end(),
            [this](const KeyEntry* a, const KeyEntry* b) { return panes_->Before(a, b); });
  firing_.erase(std::unique(firing_.begin(), firing_.end()), firing_.end());
}

// Whole key groups, so that rows may come before the next ones are asked for.
void WindowedAggregate::ListKeys() {
  firing_.clear();
  firing_at_ = 0;
  while (walked_groups_ < kKeyGroups && firing_.size() < kBatch) {
    panes_->WalkGroup(walked_groups_++, [this](KeyEntry* entry) { firing_.push_back(entry); });
  }
}

bool WindowedAggregate::FireSome(int64_t deadline, Output& out) {
  if (firing_walks_ && firing_at_ == firing_.size()) ListKeys();
  const size_t end = std::min(firing_.size(), firing_at_ + kBatch);
  constexpr size_t kAhead = 6;
  for (const size_t first = firing_at_; firing_at_ < end; ++firing_at_) {
    // Once in a window's length the merged panes of all keys are made anew: 45 µs a key instead of 2.
    const size_t fired = firing_at_ - first;
    if (fired > 0 && fired % kFiresALook == 0 && env_->SteadyNanos() > deadline) break;
    // What hangs from a key is fetched in three steps, each from what the one before has brought.
    if (firing_at_ + 3 * kAhead < end) __builtin_prefetch(firing_[firing_at_ + 3 * kAhead]);
    if (firing_at_ + 2 * kAhead < end) Panes::Prefetch(*firing_[firing_at_ + 2 * kAhead]);
    if (firing_at_ + kAhead < end) WindowEmitter::Prefetch(*firing_[firing_at_ + kAhead]);
    KeyEntry* entry = firing_[firing_at_];
    const int64_t window = node_.newest_window ? NewestEnd(*entry) : firing_end_;
    if (window > fired_end_) emitter_->Add(*panes_, entry, window);
  }
  emitter_->FlushClosing(watermark_.event, out);
  return (!firing_walks_ || walked_groups_ == kKeyGroups) && firing_at_ == firing_.size();
}

bool WindowedAggregate::FireEarly(Output& out) {
  // All open windows over the touched slices of a key, each once, oldest first.
  while (early_at_ < early_.size() && !emitter_->batch_full()) {
    KeyEntry* entry = early_[early_at_].entry;
    int64_t next = windows_->NextEnd(fired_end_);
    for (; early_at_ < early_.size() && early_[early_at_].entry == entry; ++early_at_) {
      const int64_t slice = early_[early_at_].slice;
      int64_t end = std::max(next, windows_->FirstEnd(slice));
      for (; end <= windows_->LastEnd(slice); end = windows_->NextEnd(end)) {
        emitter_->AddEarly(*panes_, entry, end);
      }
      next = std::max(next, end);
    }
  }
  emitter_->FlushEarly(watermark_.event, out);
  return early_at_ == early_.size();
}

bool WindowedAggregate::EarlyFireDue() const {
  const int64_t delay = node_.early_fire_delay;
  return delay > 0 && target_.event != Watermark::kEnd && watermark_.processing != Watermark::kNone &&
         target_.processing / delay > watermark_.processing / delay;
}

void WindowedAggregate::Advance(int64_t deadline, Output& out) {
  switch (phase_) {
    case Phase::kNextWindow: {
      int64_t end;
      if (NextWindow(&end) && end <= closed_end_) {
        StartFiring(node_.newest_window ? closed_end_ : end);
        phase_ = Phase::kFire;
      } else {
        fired_end_ = closed_end_;
        phase_ = Phase::kIdle;
        if (EarlyFireDue()) {
          early_ = panes_->TakeTouched();
          early_at_ = 0;
          phase_ = Phase::kEarly;
        }
      }
      break;
    }
    case Phase::kFire:
      if (FireSome(deadline, out)) {
        fired_end_ = firing_end_;
        phase_ = Phase::kDrop;
      }
      break;
    case Phase::kDrop: {
      bool dropped = panes_->DropBefore(windows_->FirstNeededSlice(fired_end_), kDropsAStep);
      if (emitter_->emitted() != nullptr) {
        dropped = emitter_->emitted()->DropBefore(fired_end_ + 1, kDropsAStep) && dropped;
      }
      if (dropped) phase_ = Phase::kNextWindow;
      break;
    }
    case Phase::kEarly:
      if (FireEarly(out)) {
        early_.clear();
        phase_ = Phase::kIdle;
      }
      break;
    case Phase::kIdle:
      break;
  }
}

void WindowedAggregate::AdvanceBesideRows(int64_t turns, Output& out) {
  const int64_t start = phase_ == Phase::kIdle ? 0 : env_->SteadyNanos();
  while (phase_ != Phase::kIdle && turns > 0 && !out.full()) {
    // Windows that closed during a firing are for the next one.
    if (phase_ == Phase::kNextWindow && FiringCanWait()) phase_ = Phase::kIdle;
    if (phase_ == Phase::kFire || phase_ == Phase::kDrop) --turns;
    Advance(start + kStepNanos, out);
    if (env_->SteadyNanos() - start > kStepNanos) break;  // dropping does not look at the clock
  }
}

Progress WindowedAggregate::Continue(Output& out) {
  const int64_t start = env_->SteadyNanos();
  while (phase_ != Phase::kIdle) {
    if (out.full() || env_->SteadyNanos() - start > kStepNanos) return Progress::kMore;
    Advance(start + kStepNanos, out);
  }
  watermark_ = target_;
  Charge();
  return Progress::kDone;
}

Result<Progress> WindowedAggregate::OnWatermark(const Watermark& watermark, Output& out) {
  target_ = watermark;
  closed_end_ = std::max(closed_end_, windows_->LastClosedEnd(watermark.event));
  if (!FiringCanWait()) {
    const bool under_way = phase_ != Phase::kIdle;  // nor has the firing before been done beside rows
    if (!under_way) phase_ = Phase::kNextWindow;
    if (under_way || !node_.newest_window || watermark.event == Watermark::kEnd) return Continue(out);
    AdvanceBesideRows(kTurnsOfAFew, out);
  }
  watermark_ = watermark;
  Charge();
  return Progress::kDone;
}

Result<Progress> WindowedAggregate::OnFlush(FlushBefore next, Output& out) {
  const bool nothing_due = phase_ == Phase::kIdle && fired_end_ == closed_end_;
  if (next != FlushBefore::kBarrier || nothing_due) return Progress::kDone;
  if (phase_ == Phase::kIdle) phase_ = Phase::kNextWindow;
  return Continue(out);
}

Result<Progress> WindowedAggregate::Resume(Output& out) { return Continue(out); }

}  // namespace caudal
