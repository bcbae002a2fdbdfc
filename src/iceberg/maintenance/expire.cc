#include "iceberg/maintenance/expire.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "iceberg/maintenance/reachable_files.h"
#include "iceberg/metadata/statistics_files.h"

namespace caudal::iceberg {
namespace {

constexpr int kExpiryAttempts = 5;
constexpr int64_t kFirstWait = 100;

// The head of each ref is the one that was looked at.
TableCommit CommitOfPlan(const TableMetadata& table, const ExpiryPlan& plan) {
  TableCommit commit;
  commit.requirements.push_back(AssertTableUuid{table.table_uuid});
  for (const auto& [name, ref] : table.refs)
    commit.requirements.push_back(AssertRefSnapshotId{name, ref.snapshot_id});
  for (const auto& [name, tag] : plan.tags) {
    if (table.FindRef(name) == nullptr)
      commit.requirements.push_back(AssertRefSnapshotId{name, std::nullopt});
    commit.updates.push_back(SetSnapshotRef{name, tag});
  }
  for (const std::string& name : plan.refs) commit.updates.push_back(RemoveSnapshotRef{name});
  if (!plan.snapshots.empty()) commit.updates.push_back(RemoveSnapshots{plan.snapshots});
  return commit;
}

bool IsAt(const TableMetadata& table, const std::string& name, const SnapshotRef& tag) {
  const SnapshotRef* ref = table.FindRef(name);
  return ref != nullptr && ref->snapshot_id == tag.snapshot_id;
}

// Whether the table is as the plan would have it.
bool Shows(const TableMetadata& table, const ExpiryPlan& plan) {
  const auto is_gone = [&](int64_t id) { return table.FindSnapshot(id) == nullptr; };
  const auto has_no_ref = [&](const std::string& name) { return table.FindRef(name) == nullptr; };
  const auto has_tag = [&](const auto& tag) { return IsAt(table, tag.first, tag.second); };
  return std::ranges::all_of(plan.snapshots, is_gone) && std::ranges::all_of(plan.refs, has_no_ref) &&
         std::ranges::all_of(plan.tags, has_tag);
}

class Expiration {
 public:
  Expiration(Catalog* catalog, const TableFiles& files, const TableName& name, const ExpireOptions& options)
      : catalog_(catalog), files_(files), name_(name), options_(options), left_(&files), gone_(&files) {}

  Result<ExpireReport> Run() {
    int64_t wait = kFirstWait;
    for (int attempt = 1;; ++attempt) {
      Result<bool> done = Attempt();
      if (!done.ok() && done.status().retry() == Retry::kBackoff) {
        last_ = done.status();
        done = false;
      }
      if (!done.ok()) return sent_ ? std::move(done).status().Hint(kMayBeOrphans) : std::move(done).status();
      if (*done) return std::move(report_);
      if (attempt == kExpiryAttempts) {
        return Status::External(fmt::format("snapshots of table '{}' did not expire after {} tries: {}",
                                            name_.ToString(), attempt, last_.message()),
                                Retry::kBackoff)
            .Hint(sent_ ? kMayBeOrphans : "no file was removed; say it again");
      }
      if (options_.wait) options_.wait(wait);
      wait *= 2;
    }
  }

 private:
  static constexpr const char* kMayBeOrphans =
      "no file was removed; say it again: if the snapshots have gone meanwhile, 'caudal table orphans' finds "
      "their files";

  // An error that may pass is one for the next attempt.
  Result<bool> Attempt() {
    ASSIGN_OR_RETURN(const LoadedTable loaded, catalog_->LoadTable(name_));
    const TableMetadata& before = loaded.metadata;
    if (const auto gc = before.properties.find("gc.enabled");
        gc != before.properties.end() && gc->second == "false") {
      return Status::User(fmt::format("table '{}' has 'gc.enabled' = 'false'", name_.ToString()))
          .Hint("its files belong to others too; set it to 'true' if they do not");
    }
    if (before.table_uuid != uuid_) Forget(before.table_uuid);
    const ExpiryPlan plan = PlanExpiry(before, options_.policy, files_.env()->NowMillis());
    if (plan.empty()) {
      // What an attempt before this one sent has arrived.
      if (sent_) RETURN_IF_ERROR(Finish(before));
      return true;
    }
    RETURN_IF_ERROR(Read(before, plan));
    if (options_.dry) {
      ASSIGN_OR_RETURN(const TableMetadata after,
                       ApplyUpdates(before, CommitOfPlan(before, plan).updates, 0));
      ASSIGN_OR_RETURN(report_.files, Unreached(after));
      report_.plan = plan;
      return true;
    }
    const CommitAnswer answer = catalog_->Commit(name_, CommitOfPlan(before, plan));
    if (answer.outcome == CommitOutcome::kRefused) return answer.status;
    sent_ = true;
    // Whatever the answer was: what counts is what the catalog shows.
    ASSIGN_OR_RETURN(const LoadedTable now, catalog_->LoadTable(name_));
    if (now.metadata.table_uuid == before.table_uuid && Shows(now.metadata, plan)) {
      RETURN_IF_ERROR(Finish(now.metadata));
      return true;
    }
    last_ = answer.outcome == CommitOutcome::kUnknown
                ? answer.status
                : Status::External("the catalog shows the table as it was before", Retry::kBackoff);
    return false;
  }

  void Forget(const std::string& uuid) {
    uuid_ = uuid;
    sent_ = false;
    planned_ = {};
    report_.unread.clear();
    left_ = gone_ = ReachableFiles(&files_);
    left_read_.clear();
    gone_read_.clear();
  }

  // What stays and what goes, before anything has gone. What an attempt before this one read is not read
  // again.
  Status Read(const TableMetadata& before, const ExpiryPlan& plan) {
    const std::set<int64_t> going(plan.snapshots.begin(), plan.snapshots.end());
    if (std::ranges::any_of(going, [&](int64_t id) { return left_read_.contains(id); })) {
      left_ = ReachableFiles(&files_);
      left_read_.clear();
    }
    for (const Snapshot& snapshot : before.snapshots) {
      if (!going.contains(snapshot.snapshot_id)) {
        RETURN_IF_ERROR(ReadLeft(snapshot));
      } else if (!gone_read_.contains(snapshot.snapshot_id)) {
        RETURN_IF_ERROR(gone_.AddReadable(snapshot, /*live_only=*/false, &report_.unread));
        gone_read_.insert(snapshot.snapshot_id);
      }
    }
    ASSIGN_OR_RETURN(const auto statistics, StatisticsFilesOf(before));
    for (const StatisticsFile& one : statistics) RETURN_IF_ERROR(gone_.AddFile(one.path));
    planned_.push_back(plan);
    return Status();
  }

  Status ReadLeft(const Snapshot& snapshot) {
    if (left_read_.contains(snapshot.snapshot_id)) return Status();
    RETURN_IF_ERROR(left_.Add(snapshot, /*live_only=*/true));
    left_read_.insert(snapshot.snapshot_id);
    return Status();
  }

  // What snapshots that are gone had and those that are left have not; manifests and lists last, so that an
  // interrupted removal can be told from a table that was damaged.
  Result<std::vector<std::string>> Unreached(const TableMetadata& after) {
    for (const Snapshot& snapshot : after.snapshots) RETURN_IF_ERROR(ReadLeft(snapshot));
    ASSIGN_OR_RETURN(const auto statistics, StatisticsFilesOf(after));
    for (const StatisticsFile& one : statistics) RETURN_IF_ERROR(left_.AddFile(one.path));
    std::vector<std::string> unreached;
    for (const auto* some : {&gone_.contents(), &gone_.manifests(), &gone_.lists()}) {
      for (const auto& [path, location] : *some) {
        if (!left_.Has(path)) unreached.push_back(location);
      }
    }
    return unreached;
  }

  // The table was seen behind a commit.
  Status Finish(const TableMetadata& now) {
    ASSIGN_OR_RETURN(const std::vector<std::string> unreached, Unreached(now));
    for (const std::string& location : unreached)
      (files_.Remove(location).ok() ? report_.files : report_.stuck).push_back(location);
    report_.plan = Arrived(now);
    return Status();
  }

  // What of the plans of all attempts the table shows.
  ExpiryPlan Arrived(const TableMetadata& now) const {
    ExpiryPlan arrived;
    std::set<int64_t> snapshots;
    std::set<std::string> refs;
    for (const ExpiryPlan& plan : planned_) {
      for (const int64_t id : plan.snapshots) {
        if (now.FindSnapshot(id) == nullptr && snapshots.insert(id).second) arrived.snapshots.push_back(id);
      }
      for (const std::string& name : plan.refs) {
        if (now.FindRef(name) == nullptr && refs.insert(name).second) arrived.refs.push_back(name);
      }
      for (const auto& [name, tag] : plan.tags) {
        if (IsAt(now, name, tag)) arrived.tags[name] = tag;
      }
    }
    return arrived;
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const ExpireOptions& options_;
  ExpireReport report_;
  Status last_;
  std::string uuid_;                 // of the table that all of this is about:
  bool sent_ = false;                // a commit that may have arrived
  std::vector<ExpiryPlan> planned_;  // by attempt
  ReachableFiles left_, gone_;       // what stays, and what was planned to go; both may have the same file
  std::set<int64_t> left_read_, gone_read_;  // snapshots
};

}  // namespace

Result<ExpireReport> ExpireSnapshots(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const ExpireOptions& options) {
  return Expiration(catalog, files, name, options).Run();
}

}  // namespace caudal::iceberg
