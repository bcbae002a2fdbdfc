// AggregateFunction: an aggregate described as data, and Aggregator, one bound to its argument types.
//
// An accumulator is width() bytes, 8-aligned, that the state table owns and may move with memcpy; what does
// not fit (sketches, sets of values) hangs from a pointer inside it that Destroy frees. Encode and Decode
// give and take the declared ROW, the same bytes in snapshots and exchanges. Aggregators hold no state of
// their own and are called from any thread. All calls are batched; accumulators in a batch may repeat.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/column_builder.h"
#include "expr/expr.h"

namespace caudal {

class Aggregator {
 public:
  virtual ~Aggregator() = default;

  virtual const Type& result_type() const = 0;
  // The declared ROW of the accumulator (sketches are BYTES): part of the operator's fingerprint.
  virtual Type accumulator_type() const = 0;
  virtual int width() const = 0;

  virtual void Init(char* accumulator) const = 0;
  virtual void Destroy(char* accumulator) const {}
  // `accumulators[i]` takes row `rows[i]` of the arguments; NULLs are skipped as SQL says.
  virtual void Add(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const = 0;
  // Takes rows away again. REQUIRES: can_retract().
  virtual bool can_retract() const = 0;
  virtual void Retract(char* const* accumulators, std::span<const ColumnPtr> args, RowSet rows) const;
  // `into` becomes the accumulator of both inputs' rows; `from` stays as it is.
  virtual void Merge(char* into, const char* from) const = 0;
  // `into`, whatever it was, becomes what merging `from` into an initialised one gives.
  virtual void Assign(char* into, const char* from) const;
  // Appends one result an accumulator.
  virtual void Result(const char* const* accumulators, int32_t count, ColumnBuilder* out) const = 0;

  // Bytes that hang from the accumulator, for the memory budget.
  virtual int64_t ExtraBytes(const char* accumulator) const { return 0; }
  virtual void Encode(const char* accumulator, std::string* out) const = 0;
  // Consumes its bytes from the front of `in`. REQUIRES: `accumulator` is initialised. Data error on damage.
  virtual Status Decode(std::string_view* in, char* accumulator) const = 0;
};

struct AggregateFunction {
  std::string_view name;
  std::string_view doc;
  std::string_view example;  // a whole query over VALUES
  std::string_view example_result;
  // `retracting`: the input takes rows away, so that MIN, MAX, … must keep their values.
  Result<std::unique_ptr<Aggregator>> (*bind)(std::span<const Type> args, bool distinct, bool retracting);
};

std::span<const AggregateFunction> AggregateFunctions();
const AggregateFunction* FindAggregateFunction(std::string_view name);  // null if there is none

}  // namespace caudal
