// WindowEmitter: results of (key, window) pairs into chunks: once, or as updates of what was emitted before.
//
// Owned by one WindowedAggregate, whose panes it hangs merged ones on: it outlives them. Add computes a
// result at once, while the merged row is in the nearest cache; FlushClosing and FlushEarly hand on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/operator.h"
#include "api/plan_node.h"
#include "data/column_builder.h"
#include "data/schema.h"
#include "op/row/accumulator_row.h"
#include "op/row/merged_panes.h"
#include "op/row/spare_rows.h"
#include "op/window_slices.h"
#include "state/bytes_row.h"
#include "state/panes.h"

namespace caudal {

class WindowEmitter {
 public:
  // Pairs collected before a Flush is due.
  static constexpr int32_t kBatch = 1024;

  WindowEmitter(const AggregateNode& node, std::vector<Type> key_types, Schema output,
                AccumulatorRow* accumulators, WindowSlices* windows);

  // Collects the window of the key, unless no pane lies in it. Keys stay in place until the flush.
  void Add(const Panes& table, KeyEntry* entry, int64_t end);
  // The same for windows of one key after another, oldest first, which nothing is remembered of.
  void AddEarly(const Panes& table, KeyEntry* entry, int64_t end);
  static void Prefetch(const KeyEntry& entry);
  // A pane of the key that may have been merged has changed.
  static void Forget(const KeyEntry& entry);
  bool batch_full() const { return static_cast<int32_t>(pairs_.size()) >= kBatch; }
  // Of windows that close now: what is emitted of them is not remembered. `clock`: of the rows made.
  void FlushClosing(int64_t clock, Output& out);
  void FlushEarly(int64_t clock, Output& out);

  // Memory of merged panes that hang from keys.
  int64_t merged_bytes() const { return merged_bytes_; }
  // What was emitted early of windows that are still open; null without early firing.
  Panes* emitted() { return emitted_.get(); }

 private:
  struct Pair {
    std::string_view key;
    uint64_t hash;
    int64_t end;
    bool gone;  // the group's rows were all taken away
  };

  void AddRow(const Panes& table, const KeyEntry& entry, int64_t end, const char* row);
  // Merges the window's panes one by one; null if there is none.
  const char* MergeDirectly(PaneList panes, int64_t end);
  // What was emitted of the pair's window; null if nothing was.
  char* FindEmitted(const Pair& pair) const;
  void AppendLabels(int64_t end, ColumnBuilder* builders);
  // Each pair is emitted for the first and last time.
  void EmitOnce(int64_t clock, Output& out);
  void EmitUpdates(bool closing, int64_t clock, Output& out);
  // A changed pair's rows into builders_; what is emitted now replaces what was in `held`, unless null.
  void AppendChange(const Pair& pair, size_t at, char* held, bool remember, std::vector<RowKind>* kinds);
  Chunk Finish(int32_t rows, RowKindsPtr kinds, int64_t clock);
  ColumnBuilder* results() { return builders_.data() + key_types_.size(); }
  ColumnBuilder* labels() { return results() + result_count_; }

  std::vector<AggregateNode::WindowColumn> window_columns_;
  bool retracting_;
  bool update_before_;
  std::vector<Type> key_types_;
  size_t result_count_;
  Schema output_;
  bool has_clock_;
  AccumulatorRow* accumulators_;
  WindowSlices* windows_;
  size_t worth_remembering_;  // panes of a key
  int64_t checkpoints_;       // of merged panes
  BytesRow emitted_codec_;
  std::unique_ptr<Panes> emitted_;

  std::vector<Pair> pairs_;
  std::vector<ColumnBuilder> fresh_;  // the pairs' results …
  std::vector<ColumnPtr> columns_;    // … and, in a flush, as columns
  std::vector<char*> held_;           // in a flush: what was emitted of each pair
  std::string now_;
  SpareRows spare_;
  int64_t merged_bytes_ = 0;
  MergedPanes early_;  // of early_entry_
  const KeyEntry* early_entry_ = nullptr;
  std::vector<ColumnBuilder> builders_;  // keys, results, window columns
};

}  // namespace caudal
