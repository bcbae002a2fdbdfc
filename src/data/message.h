// Message: the three things that travel downstream through lanes, in order, each rank obliging its receiver.
//
//   Chunk      rows
//   Watermark  every row that follows is, as far as anyone can know, at or after `event`; close what is due.
//              While a writer is `idle` its `event` holds nobody back; once all are, the furthest counts
//   Barrier    every row before it belongs to `epoch`; align, then seal
//
// Nothing is ever called upstream. Plain values, moved from the one writer of a lane to its one reader.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>

#include "data/chunk.h"

namespace caudal {

// Milliseconds since 1970-01-01 00:00, as Flink's watermarks.
struct Watermark {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();  // no row seen yet
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();   // the input has ended

  int64_t event = kNone;
  int64_t processing = kNone;  // Env's clock at the source, so that processing time replays
  bool idle = false;  // no split behind it has had rows for its idle timeout; not kept by checkpoints
  bool operator==(const Watermark& other) const = default;
};

// Names a commit of a query for ever: `generation` counts starts of the query, `number` its epochs, which go
// on across generations. Ordered by generation, then number.
struct Epoch {
  int64_t generation = 0;
  int64_t number = 0;
  auto operator<=>(const Epoch& other) const = default;
};

struct Barrier {
  Epoch epoch;
  bool stop = false;  // the last one: after it the task ends (drain, savepoint, new schema)
};

using Message = std::variant<Chunk, Watermark, Barrier>;

}  // namespace caudal
