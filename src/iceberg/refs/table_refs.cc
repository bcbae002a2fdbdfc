#include "iceberg/refs/table_refs.h"

#include <fmt/format.h>

#include <set>

#include "iceberg/commit/branch_history.h"
#include "iceberg/commit/snapshot_summary.h"
#include "iceberg/commit/token_tag.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/refs/ref_commit.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

Status NoSuchRef(const TableName& name, const std::string& type, const std::string& ref) {
  return Status::User(fmt::format("table '{}' has no {} '{}'", name.ToString(), type, ref))
      .Hint("'caudal table branch list' and 'caudal table tag list' show what there is");
}

Status CheckRefName(const std::string& name) {
  if (name.empty()) return Status::User("a branch or tag needs a name");
  if (!name.starts_with(kTokenTagPrefix)) return Status();
  return Status::User(fmt::format("'{}' is a name that caudal keeps for itself", name))
      .Hint(
          "such a tag holds the newest token of a query, so that it knows what it has committed; expiry "
          "makes "
          "and drops it");
}

// A snapshot without rows and without a past.
class EmptySnapshot {
 public:
  explicit EmptySnapshot(const TableFiles& files) : files_(files) {}

  Result<Snapshot> Make(const TableMetadata& table) {
    Snapshot snapshot{.snapshot_id = NewSnapshotId(table, files_.env()),
                      .schema_id = table.current_schema_id};
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, files_.env()->NowMillis());
    snapshot.summary = CommitSummary(nullptr, PreparedAppend(), DeleteChanges());
    ASSIGN_OR_RETURN(const WrittenManifestList list,
                     WriteManifestList({}, {.format_version = table.format_version,
                                            .snapshot_id = snapshot.snapshot_id,
                                            .parent_snapshot_id = std::nullopt,
                                            .sequence_number = snapshot.sequence_number,
                                            .first_row_id = table.next_row_id,
                                            .sync = RandomMarker(files_.env())}));
    if (table.format_version >= 3) {
      snapshot.first_row_id = table.next_row_id;
      snapshot.added_rows = 0;
    }
    snapshot.manifest_list =
        fmt::format("{}/snap-{}-1-{}.avro", MetadataFolder(table), snapshot.snapshot_id, files_.NewUuid());
    RETURN_IF_ERROR(files_.Write(snapshot.manifest_list, list.bytes));
    written_.push_back(snapshot.manifest_list);
    return snapshot;
  }
  // An orphan, no more, is what cannot be removed.
  void RemoveBut(const std::string& kept) const {
    for (const std::string& one : written_) {
      if (one != kept) (void)files_.Remove(one).ok();
    }
  }

 private:
  const TableFiles& files_;
  std::vector<std::string> written_;
};

// Where a ref that is made is to begin; nothing: with a snapshot of its own.
Result<std::optional<int64_t>> BeginningOf(const TableName& name, const TableMetadata& table,
                                           const NewRef& made) {
  if (made.empty) return std::optional<int64_t>();
  if (made.snapshot_id) {
    if (table.FindSnapshot(*made.snapshot_id) != nullptr) return made.snapshot_id;
    return Status::User(fmt::format("table '{}' has no snapshot {}", name.ToString(), *made.snapshot_id))
        .Hint("the metadata table '$snapshots' lists those that it has");
  }
  const SnapshotRef* from = table.FindRef(made.from);
  if (from != nullptr) return std::optional(from->snapshot_id);
  if (made.from != "main") return NoSuchRef(name, "branch or tag", made.from);
  if (made.type == "branch") return std::optional<int64_t>();
  return Status::User(fmt::format("table '{}' has no snapshot yet", name.ToString()))
      .Hint("a tag stands at a snapshot: write the table first");
}

// How many snapshots `head` is ahead of `past`; nothing if that is not found in its history.
std::optional<int64_t> Ahead(const TableMetadata& table, int64_t head, int64_t past) {
  std::set<int64_t> seen;
  for (const Snapshot* at = table.FindSnapshot(head); at != nullptr && seen.insert(at->snapshot_id).second;) {
    if (at->snapshot_id == past) return static_cast<int64_t>(seen.size()) - 1;
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  }
  return std::nullopt;
}

int64_t LengthOf(const TableMetadata& table, int64_t head) {
  std::set<int64_t> seen;
  for (const Snapshot* at = table.FindSnapshot(head); at != nullptr && seen.insert(at->snapshot_id).second;)
    at = at->parent_snapshot_id ? table.FindSnapshot(*at->parent_snapshot_id) : nullptr;
  return static_cast<int64_t>(seen.size());
}

void AddTags(const std::map<std::string, SnapshotRef>& tags, TableCommit* commit) {
  for (const auto& [name, tag] : tags) commit->updates.push_back(SetSnapshotRef{name, tag});
}

}  // namespace

Result<int64_t> CreateRef(Catalog* catalog, const TableFiles& files, const TableName& name,
                          const NewRef& made, const RefOptions& options) {
  RETURN_IF_ERROR(CheckRefName(made.name));
  SnapshotRef ref{.type = made.type,
                  .min_snapshots_to_keep = made.min_snapshots_to_keep,
                  .max_snapshot_age_ms = made.max_snapshot_age_ms,
                  .max_ref_age_ms = made.max_ref_age_ms};
  EmptySnapshot empty(files);
  std::set<int64_t> tried;
  std::string list;
  const auto plan = [&](const TableMetadata& table, bool sent) -> Result<std::optional<TableCommit>> {
    if (const SnapshotRef* there = table.FindRef(made.name)) {
      if (sent && there->type == made.type && tried.contains(there->snapshot_id)) {
        ref.snapshot_id = there->snapshot_id;
        const Snapshot* at = table.FindSnapshot(ref.snapshot_id);
        list = at == nullptr ? "" : at->manifest_list;
        return std::optional<TableCommit>();
      }
      return Status::User(
                 fmt::format("table '{}' has a {} '{}' already", name.ToString(), there->type, made.name))
          .Hint("branches and tags share their names; drop it first, or take another name");
    }
    TableCommit commit;
    commit.requirements.push_back(AssertRefSnapshotId{made.name, std::nullopt});
    ASSIGN_OR_RETURN(const std::optional<int64_t> beginning, BeginningOf(name, table, made));
    if (beginning) {
      ref.snapshot_id = *beginning;
      const bool at_ref = !made.snapshot_id;
      if (at_ref) commit.requirements.push_back(AssertRefSnapshotId{made.from, *beginning});
      if (at_ref && made.type == "branch" && table.FindRef(made.from)->type == "branch")
        AddTags(CarriedTokenTags(table, made.from, made.name), &commit);
    } else {
      ASSIGN_OR_RETURN(const Snapshot snapshot, empty.Make(table));
      ref.snapshot_id = snapshot.snapshot_id;
      list = snapshot.manifest_list;
      commit.updates.push_back(AddSnapshot{snapshot});
    }
    tried.insert(ref.snapshot_id);
    commit.updates.push_back(SetSnapshotRef{made.name, ref});
    return std::optional(std::move(commit));
  };
  RETURN_IF_ERROR(CommitRefs(catalog, name, plan, options));
  empty.RemoveBut(list);
  return ref.snapshot_id;
}

Status DropRef(Catalog* catalog, const TableName& name, const std::string& type, const std::string& ref,
               const RefOptions& options) {
  RETURN_IF_ERROR(CheckRefName(ref));
  if (ref == "main") {
    return Status::User("the branch 'main' is the table itself, and is not dropped")
        .Hint("DROP TABLE drops the table");
  }
  const auto plan = [&](const TableMetadata& table, bool sent) -> Result<std::optional<TableCommit>> {
    const SnapshotRef* there = table.FindRef(ref);
    // What was read may be older than the ref; that it is gone the catalog itself must say.
    const bool gone = there == nullptr && sent;
    if (!gone && (there == nullptr || there->type != type)) return NoSuchRef(name, type, ref);
    TableCommit commit;
    commit.requirements.push_back(
        AssertRefSnapshotId{ref, gone ? std::nullopt : std::optional(there->snapshot_id)});
    commit.updates.push_back(RemoveSnapshotRef{ref});
    return std::optional(std::move(commit));
  };
  return CommitRefs(catalog, name, plan, options);
}

Result<FastForwarded> FastForward(Catalog* catalog, const TableName& name, const std::string& branch,
                                  const std::string& to, const RefOptions& options) {
  FastForwarded done;
  std::optional<int64_t> wanted;  // what `to` was at first: what comes to it later nobody has looked at
  const auto plan = [&](const TableMetadata& table, bool sent) -> Result<std::optional<TableCommit>> {
    const SnapshotRef* target = table.FindRef(to);
    if (target == nullptr) return NoSuchRef(name, "branch or tag", to);
    const SnapshotRef* ref = table.FindRef(branch);
    if (ref == nullptr && branch != "main") return NoSuchRef(name, "branch", branch);
    if (ref != nullptr && ref->type != "branch") {
      return Status::User(fmt::format("'{}' is a tag of table '{}'", branch, name.ToString()))
          .Hint("only branches move");
    }
    wanted = wanted ? wanted : target->snapshot_id;
    // It has all of it, and perhaps more that was committed since.
    if (ref != nullptr && Ahead(table, ref->snapshot_id, *wanted)) {
      if (!sent) done = {ref->snapshot_id, ref->snapshot_id, 0};
      return std::optional<TableCommit>();
    }
    if (target->snapshot_id != *wanted) {
      return Status::User(
                 fmt::format("'{}' of table '{}' was committed to meanwhile: it is at snapshot {} and not {}",
                             to, name.ToString(), target->snapshot_id, *wanted))
          .Hint(fmt::format("look at it again, or put a tag at what you have looked at and move '{}' to that",
                            branch));
    }
    const std::optional<int64_t> ahead = ref == nullptr ? std::optional(LengthOf(table, target->snapshot_id))
                                                        : Ahead(table, target->snapshot_id, ref->snapshot_id);
    if (!ahead) {
      return Status::User(fmt::format("'{}' of table '{}' is at snapshot {}, which is not in the history of "
                                      "'{}'",
                                      branch, name.ToString(), ref->snapshot_id, to))
          .Hint(fmt::format("somebody committed to '{}' since '{}' began, or the snapshots between have "
                            "expired; write what '{}' adds once more, upon the newer head",
                            branch, to, to));
    }
    SnapshotRef moved = ref == nullptr ? SnapshotRef{.type = "branch"} : *ref;
    moved.snapshot_id = target->snapshot_id;
    TableCommit commit;
    commit.requirements.push_back(
        AssertRefSnapshotId{branch, ref == nullptr ? std::nullopt : std::optional(ref->snapshot_id)});
    commit.requirements.push_back(AssertRefSnapshotId{to, target->snapshot_id});
    commit.updates.push_back(SetSnapshotRef{branch, moved});
    if (target->type == "branch") AddTags(CarriedTokenTags(table, to, branch), &commit);
    done = {ref == nullptr ? 0 : ref->snapshot_id, target->snapshot_id, *ahead};
    return std::optional(std::move(commit));
  };
  RETURN_IF_ERROR(CommitRefs(catalog, name, plan, options));
  return done;
}

}  // namespace caudal::iceberg
