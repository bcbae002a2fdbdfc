// SinkPath: the way of rows through a plan to one of its sinks, with the fates on it, from the counts of a
// manifest's nodes. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "api/plan.h"
#include "state/manifest.h"

namespace caudal {

// A fate on the path to one sink: (operator, fate, name) → rows.
struct PathFate {
  std::string node;
  std::string fate;
  std::string name;
  int64_t rows = 0;
};

// One sink's path through a query. Each input row has one of these fates; one that reaches the sink in two
// ways (UNION ALL of a table with itself) counts as two.
struct SinkPath {
  std::string sink;
  int64_t rows_read = 0;
  std::vector<PathFate> fates;  // of input rows
  // Of changes that an operator made of input rows that it absorbed: none of `fates`, for these count
  // results.
  std::vector<PathFate> change_fates;
  int64_t rows_unaccounted = 0;  // read, without a fate: 0 unless something is wrong
  int64_t rows_written = 0;      // what the sink was given and had not already
  std::vector<int> nodes;        // that rows pass on their way, in plan order
  int64_t Rows(std::string_view fate) const;
};

// `nodes`: counts by plan node; before the first manifest none, and the paths are there all the same.
std::vector<SinkPath> FindSinkPaths(const Plan& plan, const std::vector<NodeState>& nodes);

// Rows and rejected records that a source gave.
int64_t RowsRead(const NodeState& source);

// Whether a node keeps rows and gives results in their place, so that what follows it counts results.
inline bool Absorbs(const std::vector<CountedFate>& fates) {
  return std::any_of(fates.begin(), fates.end(),
                     [](const CountedFate& fate) { return fate.fate == "absorbed"; });
}

// The fate of rows that were read before a sink, or something on its way, was there.
inline constexpr std::string_view kEarlier = "earlier";

// For a plan that goes on from the counts of another: gives `nodes`, by plan node, so that the counts of what
// stays go on and add up; rows that passed before a sink was there are `earlier` for it. Nodes that `is_new`
// says have no counts. False if the counts cannot go on, as an operator came or went on the way to a sink.
bool CarryCounts(const Plan& plan, const std::vector<bool>& is_new, std::vector<NodeState>* nodes);

}  // namespace caudal
