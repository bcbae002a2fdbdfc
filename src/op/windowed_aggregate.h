// WindowedAggregate: GROUP BY a window. Each row goes to one pane, that of its key and slice, however many
// windows lie over it; a window is fired, once, when the watermark (or kEnd) has passed its end, from the
// panes that it covers, keys in the order of their hashes.
//
// A row that is late for all its windows is rejected; one that is late for some counts in the others only,
// whether or not those have been fired here: which windows it is in depends on its own clock alone. With an
// early-fire delay, windows that changed are also emitted, as updates, whenever processing time passes a
// multiple of the delay. Firing is done in steps, between which the runtime may do other things.
//
// With `newest_window` the reader keeps the newest window of each key alone. Windows then close as they do
// else, but are fired half of their size apart, and before each barrier: for each key the newest closed
// one that has rows. What is skipped would have been replaced before anybody saw it. Such a firing is done
// beside the rows that come meanwhile, a part with each chunk: all keys at once would let the rest of the
// plan wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/row_key.h"
#include "data/schema.h"
#include "op/row/accumulator_row.h"
#include "op/row/state_charge.h"
#include "op/window_emitter.h"
#include "op/window_slices.h"
#include "state/panes.h"

namespace caudal {

class WindowedAggregate : public Operator {
 public:
  // `batch`: nothing is late.
  WindowedAggregate(AggregateNode node, const Schema& input, const Schema& output,
                    std::unique_ptr<AccumulatorRow> accumulators, bool batch);

  Status Open(const OperatorContext& context) override;
  Status OnRestore(const Watermark& watermark) override;
  Result<Progress> OnChunk(int port, const Chunk& chunk, Output& out) override;
  Result<Progress> OnWatermark(const Watermark& watermark, Output& out) override;
  Result<Progress> OnFlush(FlushBefore next, Output& out) override;
  Result<Progress> Resume(Output& out) override;
  std::vector<StateTable*> state() override;
  bool passes_rows() const override { return false; }

 private:
  enum class Phase : uint8_t { kIdle, kNextWindow, kFire, kDrop, kEarly };

  // Sorts the chunk's rows into accepted_, slices_ and from_ends_; rejects the others.
  void Assign(const Chunk& chunk, Output& out);
  // The windows of the row that its clock has closed end with `*from_end`; false if those are all.
  bool FirstOpenWindow(int64_t slice, int64_t clock, int64_t* from_end);
  bool NextWindow(int64_t* end) const;
  // With newest_window: whether closed windows may wait for newer ones, or for the rows that come next.
  bool FiringCanWait() const;
  // The window's end before which a row changes what firings have merged.
  int64_t SeenEnd() const { return phase_ == Phase::kFire ? firing_end_ : fired_end_; }
  // The newest window of the key up to firing_end_ that has rows; fired_end_ or less: none since.
  int64_t NewestEnd(const KeyEntry& entry) const;
  void StartFiring(int64_t end);
  // Fires up to a chunk of keys, fewer at a time past `deadline`; true when the window is done.
  bool FireSome(int64_t deadline, Output& out);
  void ListKeys();
  bool FireEarly(Output& out);
  // Whether processing time passes a multiple of the delay with this watermark.
  bool EarlyFireDue() const;
  // One turn of the phase; no more than about a step's work.
  void Advance(int64_t deadline, Output& out);
  // Up to `turns` of what is under way.
  void AdvanceBesideRows(int64_t turns, Output& out);
  Progress Continue(Output& out);
  void Charge();

  AggregateNode node_;
  std::vector<Type> key_types_;
  Schema output_;
  int clock_column_;
  std::unique_ptr<AccumulatorRow> accumulators_;
  std::unique_ptr<WindowSlices> windows_;
  std::unique_ptr<WindowEmitter> emitter_;  // before panes_, whose attachments it owns the memory account of
  std::unique_ptr<Panes> panes_;
  StateCharge charge_;
  Env* env_ = nullptr;
  int64_t* absorbed_ = nullptr;

  Watermark watermark_;  // the last one whose work is done: what made rows carry
  Watermark target_;     // the one being handled
  int64_t closed_end_;   // every window up to it is closed: takes no rows
  int64_t fired_end_;    // every window up to it has been fired or had no rows; behind closed_end_ at most
  Phase phase_ = Phase::kIdle;
  int64_t firing_end_ = 0;
  std::vector<KeyEntry*> firing_;  // the window's keys, if they were listed …
  size_t firing_at_ = 0;
  bool firing_walks_ = false;  // … else the whole table is walked, some key groups after the others
  int walked_groups_ = 0;
  std::vector<Panes::Touched> early_;
  size_t early_at_ = 0;

  // Reused from chunk to chunk.
  RowKeys keys_;
  std::vector<uint16_t> accepted_;
  std::vector<int64_t> slices_;
  std::vector<int64_t> from_ends_;
  std::vector<char*> rows_;
  int64_t cached_clock_ = Watermark::kNone;
  int64_t cached_closed_ = 0;
};

}  // namespace caudal
