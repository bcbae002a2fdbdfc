#include "iceberg/refs/branch_move.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

enum class Passed { kNo, kYes, kNotKnown };

// Whether `snapshot` is in the history of `at`, which may have a gap.
Passed HasPassed(const TableMetadata& table, int64_t at, int64_t snapshot) {
  std::set<int64_t> seen;
  for (std::optional<int64_t> id = at; id && seen.insert(*id).second;) {
    if (*id == snapshot) return Passed::kYes;
    const Snapshot* one = table.FindSnapshot(*id);
    if (one == nullptr) return Passed::kNotKnown;
    id = one->parent_snapshot_id;
  }
  return Passed::kNo;
}

Passed WasMoved(const TableMetadata& table, const BranchMove& move, int64_t at) {
  if (at == 0) return Passed::kNo;
  const bool left = !move.kept_as.empty() && SnapshotAt(table, move.kept_as) == move.from;
  if (left && move.drop_to && table.FindRef(move.to) == nullptr) return Passed::kYes;
  return HasPassed(table, at, move.to_snapshot);
}

}  // namespace

Status MoveBranch(Catalog* catalog, const TableName& name, const BranchMove& move, const RefOptions& options,
                  bool* never) {
  bool certain = false;
  const auto plan = [&](const TableMetadata& table, bool) -> Result<std::optional<TableCommit>> {
    const int64_t at = SnapshotAt(table, move.branch);
    if (at == move.to_snapshot) return std::optional<TableCommit>();
    if (at != move.from) {
      const Passed moved = WasMoved(table, move, at);
      if (moved == Passed::kYes) return std::optional<TableCommit>();
      // Each attempt asserted `from`, which is no more.
      certain = moved == Passed::kNo;
      return Elsewhere(name, move.branch, move.from, at);
    }
    const int64_t to = SnapshotAt(table, move.to);
    if (to != move.to_snapshot) return Elsewhere(name, move.to, move.to_snapshot, to);
    return std::optional(CommitOf(table, move));
  };
  Status done = CommitRefs(catalog, name, plan, options);
  if (never != nullptr) *never = !done.ok() && certain;
  return done;
}

}  // namespace caudal::iceberg
