#include "run/epoch/sink_path.h"

#include <algorithm>

#include "api/fate.h"

namespace caudal {
namespace {

// For each node: whether the rows it takes are still input rows, not yet folded into results.
std::vector<bool> TakesInputRows(const Plan& plan, const std::vector<NodeState>& nodes) {
  std::vector<bool> takes(plan.nodes.size(), true);
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    for (const PlanInput& input : plan.nodes[i].inputs) {
      const auto from = static_cast<size_t>(input.node);
      const bool absorbs = from < nodes.size() && Absorbs(nodes[from].fates);
      takes[i] = takes[i] && takes[from] && !absorbs;
    }
  }
  return takes;
}

// By node, in how many ways its rows reach `sink`: a row that comes there by two of them has a fate on each.
std::vector<int64_t> WaysTo(const Plan& plan, size_t sink) {
  std::vector<int64_t> ways(plan.nodes.size(), 0);
  ways[sink] = 1;
  for (size_t i = sink + 1; i-- > 0;) {
    for (const PlanInput& input : plan.nodes[i].inputs) ways[static_cast<size_t>(input.node)] += ways[i];
  }
  return ways;
}

SinkPath MakePath(const Plan& plan, const std::vector<NodeState>& nodes, size_t sink,
                  const std::vector<bool>& takes) {
  SinkPath path;
  path.sink = plan.nodes[sink].id;
  if (sink < nodes.size()) {
    for (const int64_t rows : nodes[sink].rows_in) path.rows_written += rows;
    for (const CountedFate& fate : nodes[sink].fates) {
      if (fate.fate == FateName(Fate::kDuplicate)) path.rows_written -= fate.rows;
    }
  }
  const std::vector<int64_t> ways = WaysTo(plan, sink);
  int64_t with_fate = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i] == 0) continue;
    path.nodes.push_back(static_cast<int>(i));
    if (i >= nodes.size()) continue;
    if (plan.nodes[i].as<ScanNode>() != nullptr) path.rows_read += ways[i] * RowsRead(nodes[i]);
    for (const CountedFate& fate : nodes[i].fates) {
      if (fate.rows == 0) continue;
      (takes[i] ? path.fates : path.change_fates)
          .push_back({nodes[i].id, fate.fate, fate.name, ways[i] * fate.rows});
      if (takes[i]) with_fate += ways[i] * fate.rows;
    }
  }
  path.rows_unaccounted = path.rows_read - with_fate;
  return path;
}

}  // namespace

int64_t SinkPath::Rows(std::string_view fate) const {
  int64_t rows = 0;
  for (const PathFate& one : fates) rows += one.fate == fate ? one.rows : 0;
  return rows;
}

int64_t RowsRead(const NodeState& source) {
  int64_t rows = source.rows_out;
  for (const CountedFate& fate : source.fates) rows += fate.rows;
  return rows;
}

std::vector<SinkPath> FindSinkPaths(const Plan& plan, const std::vector<NodeState>& nodes) {
  std::vector<SinkPath> paths;
  const std::vector<bool> takes = TakesInputRows(plan, nodes);
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    if (plan.nodes[i].as<SinkNode>() != nullptr) paths.push_back(MakePath(plan, nodes, i, takes));
  }
  return paths;
}

bool CarryCounts(const Plan& plan, const std::vector<bool>& is_new, std::vector<NodeState>* nodes) {
  const size_t count = FindSinkPaths(plan, *nodes).size();
  for (size_t i = 0; i < count; ++i) {
    // Again for each: what one new sink has been given, another behind the same new operator has, too.
    const SinkPath path = FindSinkPaths(plan, *nodes)[i];
    const auto first_new = std::find_if(path.nodes.begin(), path.nodes.end(),
                                        [&](int node) { return is_new[static_cast<size_t>(node)]; });
    const bool stays = !is_new[static_cast<size_t>(path.nodes.back())];
    if (stays && (first_new != path.nodes.end() || path.rows_unaccounted != 0)) return false;
    if (path.rows_unaccounted == 0) continue;
    if (path.rows_unaccounted < 0) return false;
    (*nodes)[static_cast<size_t>(*first_new)].fates.push_back(
        {std::string(kEarlier), "", path.rows_unaccounted});
  }
  // A new operator whose input is absorbed before it takes no input rows: nothing could be given to it.
  const std::vector<SinkPath> paths = FindSinkPaths(plan, *nodes);
  return std::all_of(paths.begin(), paths.end(),
                     [](const SinkPath& path) { return path.rows_unaccounted == 0; });
}

}  // namespace caudal
