#include "iceberg/refs/branch_move.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/commit/branch_history.h"
#include "iceberg/refs/ref_commit.h"

namespace caudal::iceberg {
namespace {

int64_t SnapshotAt(const TableMetadata& table, const std::string& ref) {
  const SnapshotRef* found = table.FindRef(ref);
  return found == nullptr ? 0 : found->snapshot_id;
}

std::string SnapshotText(int64_t id) { return id == 0 ? "none" : std::to_string(id); }

Status Elsewhere(const TableName& name, const std::string& ref, int64_t wanted, int64_t found) {
  return Status::User(fmt::format("'{}' of table '{}' is at snapshot {}, not {}", ref, name.ToString(),
                                  SnapshotText(found), SnapshotText(wanted)))
      .Hint("somebody committed to it or moved it; nothing was moved here");
}

// A branch, not a tag: expiry keeps the newest tokens of its history, by which queries that go on in it know
// what they have committed.
void KeepLeft(const TableMetadata& table, const BranchMove& move, TableCommit* commit) {
  // Expiry counts from the time of the snapshot.
  const int64_t age = std::max<int64_t>(0, move.kept_until_ms - table.FindSnapshot(move.from)->timestamp_ms);
  commit->updates.push_back(
      SetSnapshotRef{move.kept_as, {.snapshot_id = move.from, .type = "branch", .max_ref_age_ms = age}});
  for (const auto& [name, tag] : CarriedTokenTags(table, move.branch, move.kept_as))
    commit->updates.push_back(SetSnapshotRef{name, tag});
}

TableCommit CommitOf(const TableMetadata& table, const BranchMove& move) {
  TableCommit commit;
  const SnapshotRef* ref = table.FindRef(move.branch);
  commit.requirements = {
      AssertRefSnapshotId{move.branch, ref == nullptr ? std::nullopt : std::optional(move.from)},
      AssertRefSnapshotId{move.to, move.to_snapshot}};
  if (!move.kept_as.empty() && ref != nullptr) KeepLeft(table, move, &commit);
  SnapshotRef moved = ref == nullptr ? SnapshotRef{.type = "branch"} : *ref;
  moved.snapshot_id = move.to_snapshot;
  commit.updates.push_back(SetSnapshotRef{move.branch, moved});
  if (table.FindRef(move.to)->type == "branch") {
    for (const auto& [name, tag] : CarriedTokenTags(table, move.to, move.branch))
      commit.updates.push_back(SetSnapshotRef{name, tag});
  }
  if (move.drop_to) commit.updates.push_back(RemoveSnapshotRef{move.to});
  return commit;
}

}  // namespace

Status MoveBranch(Catalog* catalog, const TableName& name, const BranchMove& move,
                  const RefOptions& options) {
  const auto plan = [&](const TableMetadata& table, bool) -> Result<std::optional<TableCommit>> {
    const int64_t at = SnapshotAt(table, move.branch);
    if (at == move.to_snapshot) return std::optional<TableCommit>();
    if (at != move.from) return Elsewhere(name, move.branch, move.from, at);
    const int64_t to = SnapshotAt(table, move.to);
    if (to != move.to_snapshot) return Elsewhere(name, move.to, move.to_snapshot, to);
    return std::optional(CommitOf(table, move));
  };
  return CommitRefs(catalog, name, plan, options);
}

}  // namespace caudal::iceberg
