// AccumulatorRow: the accumulators of one group side by side, as a row of a state table; in front of them how
// many rows the group has (additions less removals), which is also what COUNT(*) needs.
//
// Owned by its operator and outliving its tables. One thread, since it keeps scratch between calls.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/plan_node.h"
#include "data/schema.h"
#include "expr/aggregate_function.h"
#include "state/row_codec.h"

namespace caudal {

class AccumulatorRow : public RowCodec {
 public:
  // Binds the calls to the input's types. User error where a function refuses them.
  static Result<std::unique_ptr<AccumulatorRow>> Make(const std::vector<AggregateCall>& calls,
                                                      const Schema& input, bool retracting);
  // For tests: `aggregators` are what the calls would have been bound to.
  AccumulatorRow(std::vector<AggregateCall> calls, std::vector<std::unique_ptr<Aggregator>> aggregators);

  // rows[i] takes the chunk's row picked[i], or, by its kind, takes it away. A group may stand there often.
  void Update(char* const* rows, const Chunk& chunk, RowSet picked);
  void Merge(char* into, const char* from) const;
  // `into`, initialised and of any contents, becomes as `from`.
  void Assign(char* into, const char* from) const;
  // Appends each group's results to builders[0 …], one a call.
  void Results(const char* const* rows, int32_t count, ColumnBuilder* builders);
  static int64_t row_count(const char* row) {
    int64_t count;
    std::memcpy(&count, row, sizeof(count));
    return count;
  }

  size_t width() const override { return width_; }
  void Init(char* row) const override;
  void Destroy(char* row) const override;
  int64_t ExtraBytes(const char* row) const override;
  void Encode(const char* row, std::string* out) const override;
  Status Decode(std::string_view* in, char* row) const override;
  std::string Fingerprint() const override;

 private:
  // Rows of one sign.
  void UpdateRun(char* const* rows, const Chunk& chunk, RowSet picked, bool add);

  std::vector<AggregateCall> calls_;
  std::vector<std::unique_ptr<Aggregator>> aggregators_;
  std::vector<size_t> offsets_;
  std::vector<size_t> own_;  // the calls that have an accumulator beside the count of rows
  size_t width_ = 0;
  // Scratch.
  std::vector<char*> pointers_;
  std::vector<uint16_t> numbers_;
  std::vector<ColumnPtr> args_;
};

}  // namespace caudal
