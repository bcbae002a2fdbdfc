#include "watch/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace caudal {
namespace {

std::string FateLabel(const PathFate& fate) {
  return fate.name.empty() ? fate.fate : fmt::format("{}{{{}}}", fate.fate, fate.name);
}

nlohmann::ordered_json FatesJson(const std::vector<PathFate>& fates) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PathFate& fate : fates) {
    json.push_back({{"operator", fate.node}, {"fate", fate.fate}, {"name", fate.name}, {"rows", fate.rows}});
  }
  return json;
}

// What people should know of without asking: a change that is neither written nor folded on.
bool IsLoss(const PathFate& fate) { return fate.fate == "dead" || fate.fate == "late"; }

}  // namespace

int64_t WeightedQuantile(std::vector<std::pair<int64_t, int64_t>>* samples, double share) {
  std::sort(samples->begin(), samples->end());
  int64_t total = 0;
  for (const auto& [value, weight] : *samples) total += weight;
  int64_t seen = 0;
  for (const auto& [value, weight] : *samples) {
    seen += weight;
    if (static_cast<double>(seen) >= share * static_cast<double>(total)) return value;
  }
  return -1;
}

QueryReport MakeReport(const Plan& plan, const std::vector<NodeState>& nodes) {
  QueryReport report;
  for (size_t i = 0; i < plan.nodes.size() && i < nodes.size(); ++i) {
    if (plan.nodes[i].as<ScanNode>() != nullptr) report.rows_read += RowsRead(nodes[i]);
  }
  report.paths = FindSinkPaths(plan, nodes);
  return report;
}

QueryReport MakeReport(const Plan& plan, const JobProgress& progress) {
  QueryReport report = MakeReport(plan, progress.checkpoints.nodes);
  report.query = progress.query;
  report.commits = progress.checkpoints.committed;
  std::vector<std::pair<int64_t, int64_t>> samples;
  for (const EpochSample& epoch : progress.checkpoints.recent) {
    if (!epoch.freshness.empty()) ++report.freshness_commits;
    samples.insert(samples.end(), epoch.freshness.begin(), epoch.freshness.end());
  }
  report.freshness_p50 = WeightedQuantile(&samples, 0.5);
  report.freshness_p95 = WeightedQuantile(&samples, 0.95);
  return report;
}

std::string ReportJson(const std::vector<QueryReport>& reports) {
  using Json = nlohmann::ordered_json;
  Json queries = Json::array();
  const auto known = [](int64_t millis) { return millis < 0 ? Json() : Json(millis); };
  for (const QueryReport& report : reports) {
    Json paths = Json::array();
    for (const SinkPath& path : report.paths) {
      paths.push_back({{"sink", path.sink},
                       {"rows_read", path.rows_read},
                       {"rows_written", path.rows_written},
                       {"rows_unaccounted", path.rows_unaccounted},
                       {"fates", FatesJson(path.fates)},
                       {"change_fates", FatesJson(path.change_fates)}});
    }
    queries.push_back({{"query", report.query},
                       {"rows_read", report.rows_read},
                       {"commits", report.commits},
                       {"freshness_p50_ms", known(report.freshness_p50)},
                       {"freshness_p95_ms", known(report.freshness_p95)},
                       {"freshness_commits", report.freshness_commits},
                       {"paths", paths}});
  }
  return Json{{"queries", queries}}.dump();
}

std::string ReportText(const std::vector<QueryReport>& reports) {
  std::string text;
  for (const QueryReport& report : reports) {
    text += fmt::format("query {}: {} rows read, {} commits", report.query, report.rows_read, report.commits);
    if (report.freshness_p50 >= 0) {
      text += fmt::format(", freshness p50 {} ms, p95 {} ms", report.freshness_p50, report.freshness_p95);
    }
    text += "\n";
    for (const SinkPath& path : report.paths) {
      text += fmt::format("  to {}: {} rows written, {} unaccounted\n", path.sink, path.rows_written,
                          path.rows_unaccounted);
      for (const PathFate& fate : path.fates)
        text += fmt::format("    {:>12} {}\n", fate.rows, FateLabel(fate));
      for (const PathFate& fate : path.change_fates) {
        if (IsLoss(fate)) text += fmt::format("    {:>12} changes {}\n", fate.rows, FateLabel(fate));
      }
    }
  }
  return text;
}

}  // namespace caudal
