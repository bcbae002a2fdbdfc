// RowLimit: LIMIT and OFFSET of a SELECT without ORDER BY, counted where the rows arrive, so that the read
// can end with the last of them, and an unbounded table can be looked into.
//
// Pass is called by one thread at a time; reached() by any.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "api/plan.h"
#include "data/chunk.h"
#include "server/result_connector.h"

namespace caudal {

class RowLimit {
 public:
  // Takes the Sort at the end of the plan away if all it does is to cut rows that come one by one; the plan
  // then needs no end and is no batch any more.
  static std::optional<RowLimit> TakeFrom(Plan* plan);

  RowLimit(int64_t offset, int64_t limit) : skip_(offset), left_(limit), reached_(limit == 0) {}
  RowLimit(RowLimit&& other) noexcept
      : skip_(other.skip_), left_(other.left_), reached_(other.reached_.load()) {}

  // Hands the rows that count to `consumer`.
  Status Pass(const Chunk& chunk, const RowsConsumer& consumer);
  bool reached() const { return reached_; }

 private:
  int64_t skip_;
  int64_t left_;
  std::atomic<bool> reached_;
};

}  // namespace caudal
