// RunReport: what a running query's progress means: rows read, each fate by sink path, what is unaccounted,
// freshness; as rows for the operations store, as JSON and as text.
//
// Pure functions over copies of JobProgress; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/epoch/sink_path.h"
#include "run/job.h"

namespace caudal {

struct QueryReport {
  std::string query;
  std::vector<SinkPath> paths;
  int64_t rows_read = 0;
  int64_t commits = 0;
  // Arrival to visible commit, in ms, over the commits that are remembered; -1 = none yet.
  int64_t freshness_p50 = -1;
  int64_t freshness_p95 = -1;
  int64_t freshness_commits = 0;
};

// Of the counters in a manifest's nodes; a path to each sink also before the first manifest.
QueryReport MakeReport(const Plan& plan, const std::vector<NodeState>& nodes);
// As of the last manifest, so that the counts belong together.
QueryReport MakeReport(const Plan& plan, const JobProgress& progress);

// The value below which `share` of the weighted samples lie; -1 for none. Sorts `samples`.
int64_t WeightedQuantile(std::vector<std::pair<int64_t, int64_t>>* samples, double share);

std::string ReportJson(const std::vector<QueryReport>& reports);
std::string ReportText(const std::vector<QueryReport>& reports);

}  // namespace caudal
