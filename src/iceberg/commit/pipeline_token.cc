#include "iceberg/commit/pipeline_token.h"

#include <charconv>
#include <tuple>
#include <unordered_map>

#include "iceberg/commit/branch_history.h"
#include "iceberg/commit/token_tag.h"

namespace caudal::iceberg {
namespace {

constexpr const char* kPipelineKey = "caudal.pipeline";
constexpr const char* kGenerationKey = "caudal.generation";
constexpr const char* kEpochKey = "caudal.epoch";
constexpr const char* kPositionsKey = "caudal.positions";

std::optional<int64_t> NumberAt(const std::map<std::string, std::string>& summary, const char* key) {
  const auto found = summary.find(key);
  if (found == summary.end()) return std::nullopt;
  int64_t number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

auto OrderOf(const PipelineToken& token) { return std::tie(token.generation, token.epoch); }

}  // namespace

std::map<std::string, std::string> TokenSummary(const PipelineToken& token) {
  return {{kPipelineKey, token.pipeline},
          {kGenerationKey, std::to_string(token.generation)},
          {kEpochKey, std::to_string(token.epoch)},
          {kPositionsKey, token.positions}};
}

std::optional<PipelineToken> TokenOf(const Snapshot& snapshot) {
  const auto pipeline = snapshot.summary.find(kPipelineKey);
  const auto generation = NumberAt(snapshot.summary, kGenerationKey);
  const auto epoch = NumberAt(snapshot.summary, kEpochKey);
  if (pipeline == snapshot.summary.end() || !generation || !epoch) return std::nullopt;
  const auto positions = snapshot.summary.find(kPositionsKey);
  return PipelineToken{pipeline->second, *generation, *epoch,
                       positions == snapshot.summary.end() ? "" : positions->second};
}

TokenFinding FindToken(const TableMetadata& table, const std::string& branch, const PipelineToken& token) {
  TokenFinding finding;
  const std::string& history = HistoryOf(table, branch);
  const SnapshotRef* head = table.FindRef(history);
  if (head == nullptr) return finding;
  std::unordered_map<int64_t, const Snapshot*> by_id;
  for (const Snapshot& snapshot : table.snapshots) by_id.emplace(snapshot.snapshot_id, &snapshot);
  const auto look = [&](const Snapshot& snapshot) {
    const auto found = TokenOf(snapshot);
    if (!found || found->pipeline != token.pipeline) return false;
    if (!finding.newest || OrderOf(*finding.newest) < OrderOf(*found)) finding.newest = found;
    const bool is_it = OrderOf(*found) == OrderOf(token);
    if (is_it || (OrderOf(token) < OrderOf(*found) && finding.search == TokenSearch::kAbsent)) {
      finding.search = is_it ? TokenSearch::kFound : TokenSearch::kSuperseded;
      finding.snapshot_id = snapshot.snapshot_id;
    }
    return is_it;
  };
  const Snapshot* oldest = nullptr;
  // A parent is taken out once visited, so that damaged metadata cannot lead in a circle.
  for (std::optional<int64_t> id = head->snapshot_id; id && by_id.count(*id) > 0;) {
    const Snapshot* snapshot = by_id.at(*id);
    by_id.erase(*id);
    if (look(*snapshot)) return finding;
    oldest = snapshot;
    id = snapshot->parent_snapshot_id;
  }
  const Snapshot* tagged = oldest == nullptr ? nullptr : TaggedToken(table, history, token.pipeline, *oldest);
  if (tagged != nullptr) look(*tagged);
  return finding;
}

}  // namespace caudal::iceberg
