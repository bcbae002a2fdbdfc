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

bool HasNoneOf(const TableMetadata& table, const std::vector<int64_t>& snapshots) {
  return std::none_of(snapshots.begin(), snapshots.end(),
                      [&](int64_t id) { return table.FindSnapshot(id) != nullptr; });
}

// What snapshots that are gone had and those that are left have not; manifests and lists last, so that an
// interrupted removal can be told from a table that was damaged.
Result<std::vector<std::string>> Unreached(const TableFiles& files, const TableMetadata& before,
                                           const TableMetadata& after) {
  ReachableFiles left(&files), gone(&files);
  for (const Snapshot& snapshot : after.snapshots) RETURN_IF_ERROR(left.Add(snapshot, /*live_only=*/true));
  ASSIGN_OR_RETURN(const auto statistics, StatisticsFilesOf(after));
  for (const StatisticsFile& one : statistics) RETURN_IF_ERROR(left.AddFile(one.path));
  for (const Snapshot& snapshot : before.snapshots) {
    if (after.FindSnapshot(snapshot.snapshot_id) == nullptr) RETURN_IF_ERROR(gone.Add(snapshot, false));
  }
  ASSIGN_OR_RETURN(const auto former, StatisticsFilesOf(before));
  for (const StatisticsFile& one : former) RETURN_IF_ERROR(gone.AddFile(one.path));
  std::vector<std::string> unreached;
  for (const auto* some : {&gone.contents(), &gone.manifests(), &gone.lists()}) {
    for (const auto& [path, location] : *some) {
      if (!left.Has(path)) unreached.push_back(location);
    }
  }
  return unreached;
}

class Expiration {
 public:
  Expiration(Catalog* catalog, const TableFiles& files, const TableName& name, const ExpireOptions& options)
      : catalog_(catalog), files_(files), name_(name), options_(options) {}

  Result<ExpireReport> Run() {
    int64_t wait = kFirstWait;
    for (int attempt = 1;; ++attempt) {
      ASSIGN_OR_RETURN(const bool done, Attempt());
      if (done) return std::move(report_);
      if (attempt == kExpiryAttempts) {
        return Status::External(fmt::format("snapshots of table '{}' did not expire after {} tries: {}",
                                            name_.ToString(), attempt, last_.message()),
                                Retry::kBackoff)
            .Hint("no file was removed; say it again");
      }
      if (options_.wait) options_.wait(wait);
      wait *= 2;
    }
  }

 private:
  Result<bool> Attempt() {
    Result<LoadedTable> loaded = catalog_->LoadTable(name_);
    if (!loaded.ok()) return Again(loaded.status());
    const TableMetadata& before = loaded->metadata;
    if (const auto gc = before.properties.find("gc.enabled");
        gc != before.properties.end() && gc->second == "false") {
      return Status::User(fmt::format("table '{}' has 'gc.enabled' = 'false'", name_.ToString()))
          .Hint("its files belong to others too; set it to 'true' if they do not");
    }
    report_.plan = PlanExpiry(before, options_.policy, files_.env()->NowMillis());
    if (report_.plan.empty()) return true;
    if (options_.dry) {
      ASSIGN_OR_RETURN(const TableMetadata after,
                       ApplyUpdates(before, CommitOfPlan(before, report_.plan).updates, 0));
      ASSIGN_OR_RETURN(report_.files, Unreached(files_, before, after));
      return true;
    }
    const CommitAnswer answer = catalog_->Commit(name_, CommitOfPlan(before, report_.plan));
    if (answer.outcome == CommitOutcome::kRefused) return Again(answer.status);
    // Whatever the answer was: what counts is what the catalog shows.
    Result<LoadedTable> now = catalog_->LoadTable(name_);
    if (!now.ok()) return Again(now.status());
    if (now->metadata.table_uuid != before.table_uuid || !HasNoneOf(now->metadata, report_.plan.snapshots)) {
      last_ = answer.outcome == CommitOutcome::kUnknown
                  ? answer.status
                  : Status::External("the catalog shows the table as it was before", Retry::kBackoff);
      return false;
    }
    RETURN_IF_ERROR(Remove(before, now->metadata));
    return true;
  }

  Result<bool> Again(const Status& status) {
    if (status.retry() != Retry::kBackoff) return status;
    last_ = status;
    return false;
  }

  Status Remove(const TableMetadata& before, const TableMetadata& after) {
    ASSIGN_OR_RETURN(const std::vector<std::string> unreached, Unreached(files_, before, after));
    for (const std::string& location : unreached)
      (files_.Remove(location).ok() ? report_.files : report_.stuck).push_back(location);
    return Status();
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const ExpireOptions& options_;
  ExpireReport report_;
  Status last_;
};

}  // namespace

Result<ExpireReport> ExpireSnapshots(Catalog* catalog, const TableFiles& files, const TableName& name,
                                     const ExpireOptions& options) {
  return Expiration(catalog, files, name, options).Run();
}

}  // namespace caudal::iceberg
