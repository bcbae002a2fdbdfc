// Workload: the seeded input of one simulation, the plan that reads it, and what must come of it, computed on
// its own path from the rules of docs/design/time.md: no engine code vouches for itself.
//
// Plan: events → Calc (filter) → DEDUPLICATE by key → sink `rows`
//                             → Aggregate by account, HOP windows → sink `windows`
// and a dead-letter table. Everything is a BIGINT or a TIMESTAMP(3), so that a sink row is four numbers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/plan.h"

namespace caudal {

using SimulatedRow = std::array<int64_t, 4>;

struct SimulatedEvent {
  bool malformed = false;
  bool no_key = false;  // breaks NOT NULL
  bool keep = true;     // passes the filter
  int64_t key = 0;
  int64_t account = 0;
  int64_t amount = 0;
  int64_t time = 0;  // ms
};

// What sinks and counters must hold at the end. Rows sorted.
struct Expectation {
  std::vector<SimulatedRow> rows;
  std::vector<SimulatedRow> windows;
  std::vector<SimulatedRow> dead;
  std::map<std::string, int64_t> fates;  // "node/fate/name" → rows
};

class Workload {
 public:
  static constexpr int64_t kDelay = 2'000;    // of the watermark, ms
  static constexpr int64_t kRetain = 30'000;  // of DEDUPLICATE
  static constexpr int64_t kSize = 20'000;    // of the windows
  static constexpr int64_t kSlide = 10'000;

  explicit Workload(uint64_t seed);

  const std::vector<std::vector<SimulatedEvent>>& splits() const { return splits_; }
  Expectation Expect() const;
  Plan MakePlan(int parallelism, bool batch) const;

  // What a dead letter's class becomes in a row of numbers.
  static int64_t ClassNumber(std::string_view error_class);

 private:
  void ExpectSplit(size_t split, Expectation* expected,
                   std::map<std::pair<int64_t, int64_t>, SimulatedRow>*) const;

  std::vector<std::vector<SimulatedEvent>> splits_;
};

}  // namespace caudal
