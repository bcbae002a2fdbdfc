// Evaluator: runs Exprs over chunks, column at a time, over the selected rows only.
//
// One for each thread of execution; keeps scratch between calls. Results share the input's columns where they
// can. Row errors do not stop it: the caller decides what becomes of the rows in RowErrors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "data/chunk.h"
#include "data/text/time_zone.h"
#include "expr/expr.h"

namespace caudal {

// Rows that an expression could not be evaluated for, and why. A row stands here once, with its first error.
class RowErrors {
 public:
  struct Entry {
    int32_t row;  // physical
    std::string message;
    SqlPosition position = {};  // of the innermost call that failed and was written by the user
  };
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  void Add(int32_t row, std::string message, SqlPosition position = {});
  // The entries from `first` on are of a call at `position`, unless an inner one was found before.
  void Locate(size_t first, const SqlPosition& position);
  // Forgets entries of rows from `size` on: a lazy function drops errors of a branch (TRY_CAST).
  void Truncate(size_t size);
  size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
  std::vector<bool> failed_;  // by row
};

// What the session decides about meaning.
struct EvaluatorOptions {
  std::string time_zone = "UTC";  // table.local-time-zone
  int64_t now_millis = 0;  // what CURRENT_TIMESTAMP and PROCTIME() give; set by the task before each chunk
  // In batch, where the whole query is of one moment: what CURRENT_TIMESTAMP and its kind give instead.
  std::optional<int64_t> query_start_millis = {};
};

class Evaluator {
 public:
  // A zone that nobody knows counts as UTC; SET refuses it before.
  explicit Evaluator(EvaluatorOptions options = {});

  const EvaluatorOptions& options() const { return options_; }
  void set_now_millis(int64_t now_millis) { options_.now_millis = now_millis; }
  TimeZone& zone() { return zone_; }

  // Column of chunk.physical_rows() rows, meaningful at `rows`.
  ColumnPtr Eval(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors);

  // The rows of `rows` for which the BOOLEAN `expr` is TRUE, in order, into `passed`.
  void Filter(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors,
              std::vector<uint16_t>* passed);

 private:
  ColumnPtr EvalCall(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors);
  ColumnPtr EvalUnlocated(const Expr& expr, const Chunk& chunk, RowSet rows, RowErrors& errors);
  ColumnPtr EvalOnce(const Expr& expr, const std::vector<ColumnPtr>& args, const Chunk& chunk, RowSet rows,
                     RowErrors& errors);
  ColumnPtr EvalDictionary(const Expr& expr, const std::vector<ColumnPtr>& args, size_t coded,
                           const Chunk& chunk, RowSet rows, RowErrors& errors);
  ColumnPtr EvalStrict(const Expr& expr, const std::vector<ColumnPtr>& args, const Chunk& chunk, RowSet rows,
                       RowErrors& errors);

  EvaluatorOptions options_;
  TimeZone zone_;
};

// Value of an expression without columns: constant folding, options, tests. Data error if it fails.
Result<Value> EvalConstant(const Expr& expr, const EvaluatorOptions& options = {});
// Replaces every deterministic part without columns by its value; what fails stays, to fail at its rows.
void FoldConstants(Expr* expr, const EvaluatorOptions& options = {});

}  // namespace caudal
