// WindowEmitter: results of (key, window) pairs into chunks: once, or as updates of what was emitted before.
//
// Owned by one WindowedAggregate, whose panes it hangs merged ones on: it outlives them. Add collects, Flush
// hands on; never more than a chunk in between.
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
  ~WindowEmitter();

  // Collects the window of the key, unless no pane lies in it. Panes stay unchanged and in place until Flush.
  // REQUIRES: between two calls of Flush a key comes once.
  void Add(const Panes& table, KeyEntry* entry, int64_t end);
  // The same for windows of one key after another, oldest first, which nothing is remembered of.
  void AddEarly(const Panes& table, KeyEntry* entry, int64_t end);
  static void Prefetch(const KeyEntry& entry);
  // A pane of the key that may have been merged has changed.
  static void Forget(const KeyEntry& entry);
  bool batch_full() const { return static_cast<int32_t>(pairs_.size()) >= kBatch; }
  // `clock`: of the rows made.
  void Flush(int64_t clock, Output& out);

  // Memory of merged panes that hang from keys.
  int64_t merged_bytes() const { return merged_bytes_; }
  // What was emitted early of windows that are still open; null without early firing.
  Panes* emitted() { return emitted_.get(); }

 private:
  struct Pair {
    std::string_view key;
    uint64_t hash;
    int64_t end;
    const char* row;
  };

  void AddRow(const Panes& table, const KeyEntry& entry, int64_t end, const char* row);
  // Merges the window's panes one by one; null if there is none.
  const char* MergeDirectly(std::span<const Panes::Pane> panes, int64_t end);
  // The row to merge a pair's panes into, initialised.
  char* Scratch();
  void AppendLabels(int64_t end, ColumnBuilder* builders);
  void FlushOnce(std::span<const Pair> pairs, int64_t clock, Output& out);
  void FlushUpdates(std::span<const Pair> pairs, int64_t clock, Output& out);
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
  BytesRow emitted_codec_;
  std::unique_ptr<Panes> emitted_;

  std::vector<Pair> pairs_;
  int64_t merged_bytes_ = 0;
  MergedPanes early_;  // of early_entry_, up to early_end_
  const KeyEntry* early_entry_ = nullptr;
  std::vector<std::unique_ptr<char[]>> scratch_;  // rows of kBatch pairs, made as needed
  size_t scratch_used_ = 0;
  std::vector<const char*> rows_;
  std::vector<ColumnBuilder> builders_;  // keys, results, window columns
};

}  // namespace caudal
