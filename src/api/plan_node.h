// The kinds of plan node, one struct each: what the operator of the same name must do. Plain data.
//
// Columns are positions in the schema of the node's input. Times and durations are milliseconds. Semantics in
// docs/operators.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/scan_filter.h"
#include "api/table.h"
#include "expr/expr.h"

namespace caudal {

struct AggregateFunction;

// Reads a table: decoder's columns, computed columns, NOT NULL check, clock, hidden columns.
struct ScanNode {
  Table table;
  std::vector<int> columns;  // positions in table.columns that the output begins with; hidden columns follow
  std::vector<ScanFilter> filters;  // of the only node that takes its rows, which drops what they let in
};

// Literal rows; ends at once.
struct ValuesNode {
  std::vector<std::vector<Expr>> rows;
};

// WHERE and SELECT: every filter in order (a row counts for the first that it fails), then the projections.
struct CalcNode {
  struct Filter {
    std::string name;  // as counted: the conjunct's canonical text
    Expr condition;
  };
  std::vector<Filter> filters;
  std::vector<Expr> projections;
};

// Where a window function puts a row: TUMBLE is HOP with slide = size.
struct WindowSpec {
  int64_t size = 0;   // of a session, the gap that ends it
  int64_t slide = 0;  // 0: a session
  int64_t offset = 0;
  int time_column = 0;
  bool local_time_zone = false;  // TIMESTAMP_LTZ: aligned and labelled in the session's zone
  bool is_session() const { return slide == 0; }
};

// A window table function: each row once for each of its windows, with their bounds behind its columns.
struct WindowNode {
  WindowSpec window;
};

struct AggregateCall {
  const AggregateFunction* function = nullptr;
  std::string name;
  std::vector<int> args;
  bool distinct = false;
  int filter = -1;  // BOOLEAN column of FILTER (WHERE …); -1 = none
  Type result;
  bool operator==(const AggregateCall& other) const = default;
};

// When an operator that keeps rows lets its results go.
enum class Emission : uint8_t {
  kOnChange,     // plain: +I, -U/+U, -D as the result changes
  kOnWatermark,  // windowed: once, when the watermark passes the window's end
  kOnEnd,        // batch: once, at the end
};

// GROUP BY and SELECT DISTINCT. Output: keys, results, then the window columns asked for.
struct AggregateNode {
  using Emit = Emission;
  enum class WindowColumn : uint8_t { kStart, kEnd, kTime };

  std::vector<int> keys;
  std::vector<AggregateCall> calls;
  bool windowed = false;
  WindowSpec window;  // if windowed: assigned here, from slices shared by all its windows
  std::vector<WindowColumn> window_columns;
  Emit emit = Emit::kOnChange;
  int64_t early_fire_delay = 0;  // ms of processing time between early results; 0 = none
  bool retracting = false;       // the input takes rows away
  bool update_before = true;     // the reader wants -U
  // Of the windows of a key that close between two checkpoints only the newest is wanted.
  bool newest_window = false;
};

struct SortKey {
  int column = 0;
  bool ascending = true;
  bool nulls_first = true;
  bool operator==(const SortKey& other) const = default;
};

// ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) between `first` and `last`; n = 1 is deduplication.
struct TopNNode {
  using Emit = Emission;
  std::vector<int> partition;
  std::vector<SortKey> order;
  int64_t first = 1;
  int64_t last = 1;
  bool with_rank = false;      // the row number is the last output column
  bool retracting = false;     // the input takes rows away
  bool update_before = true;   // the reader wants -U
  bool rowtime_first = false;  // n = 1, ascending rowtime: first row, late rows rejected
  bool rowtime_last = false;   // n = 1, descending rowtime or arrival: of equal times the later to come
  // n = 1 by processing time, kOnChange: the first, or with rowtime_last the last, to arrive; `order` is not
  // compared.
  bool by_arrival = false;
  // Retracting, but updates come as -U and +U of one row and never put it lower: emitted as one update.
  bool rising = false;
  // A Top-N of windows (PARTITION BY window_start, window_end): `window`, whose time_column is here the
  // column of the partition that holds the window's end.
  Emit emit = Emit::kOnChange;
  WindowSpec window;
};

// DEDUPLICATE: the first row to arrive of each key; a repeat within `retain` is a duplicate.
struct DeduplicateNode {
  std::vector<int> keys;
  int time_column = 0;
  int clock_column = 0;
  int64_t retain = 0;
};

// Folds a changelog by the sink's key, so that an upsert sink sees one row a key: by sign, never by arrival.
struct MaterializeNode {
  std::vector<int> keys;
  bool update_before = false;
};

// UNION ALL.
struct UnionNode {};

// ORDER BY, LIMIT, OFFSET of a bounded result.
struct SortNode {
  std::vector<SortKey> keys;
  int64_t offset = 0;
  int64_t limit = -1;  // -1 = all
};

struct SinkNode {
  Table table;           // the schema of the input is that of its persisted columns, in order
  std::vector<int> key;  // primary key, as columns of the input
};

}  // namespace caudal
