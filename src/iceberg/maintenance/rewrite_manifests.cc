#include "iceberg/maintenance/rewrite_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/snapshot/manifest_merge.h"
#include "iceberg/snapshot/new_snapshot.h"
#include "iceberg/snapshot/snapshot_commit.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kTargetManifestBytes = int64_t{8} << 20;

using Group = std::vector<ManifestFile>;  // of one content and one spec

class ManifestRewrite : public SnapshotMaker {
 public:
  ManifestRewrite(const TableFiles& files, const TableName& name, const RewriteManifestsOptions& options)
      : files_(files), name_(name), options_(options) {}

  Result<RewriteManifestsReport> Commit(Catalog* catalog) {
    SnapshotCommitOptions how;
    how.branch = options_.branch;
    how.wait = options_.wait;
    RETURN_IF_ERROR(SnapshotCommit(catalog, files_, name_, this, how).Run());
    return report_;
  }

  Result<bool> IsSettled(const TableMetadata& table, const std::set<int64_t>& asked) override {
    for (const int64_t id : asked) {
      if (table.FindSnapshot(id) == nullptr) continue;
      report_ = tried_.at(id);
      return true;
    }
    return options_.branch == "main" && table.FindRef("main") == nullptr;  // it has no snapshot yet
  }

  // Nothing if no group gets smaller.
  Result<std::optional<SnapshotContents>> Make(const SnapshotAttempt& attempt) override {
    const TableMetadata& table = *attempt.table;
    const Snapshot& head = *attempt.head;
    report_ = {};
    if (head.manifest_list.empty()) {
      return Status::User(
                 fmt::format("snapshot {} lists its manifests in the metadata file", head.snapshot_id))
          .Hint("rewrite the manifests of this table of format 1 with the engine that made it");
    }
    ASSIGN_OR_RETURN(const std::string bytes, files_.Read(head.manifest_list));
    ASSIGN_OR_RETURN(const auto listed, ReadManifestList(bytes, head.manifest_list));
    std::map<std::pair<ManifestContent, int32_t>, Group> groups;
    for (const ManifestFile& manifest : listed) {
      if (manifest.has_live_files())
        groups[{manifest.content, manifest.partition_spec_id}].push_back(manifest);
    }
    SnapshotContents contents{
        .schema_id = table.current_schema_id, .name = files_.NewUuid(), .merges = false};
    JoinTarget target{&files_, &table, contents.name, attempt.written};
    for (const auto& [key, group] : groups) {
      if (!CanShrink(table, group)) {
        contents.manifests.insert(contents.manifests.end(), group.begin(), group.end());
        report_.kept += static_cast<int64_t>(group.size());
        continue;
      }
      report_.replaced += static_cast<int64_t>(group.size());
      RETURN_IF_ERROR(JoinManifests(group, Wanted(table, group), &target, &contents.manifests));
    }
    report_.written = target.next;
    if (report_.replaced == 0) return std::optional<SnapshotContents>();
    contents.summary = Summary(head);
    report_.snapshot_id = attempt.snapshot_id;
    tried_[attempt.snapshot_id] = report_;
    return std::optional(std::move(contents));
  }

  Status GaveUp(int64_t attempts, bool unknown, const Status& last) const override {
    return Status::External(
               fmt::format("the rewriting of manifests of table '{}' {} after {} tries: {}", name_.ToString(),
                           unknown ? "is not certain" : "was refused", attempts, last.message()),
               Retry::kBackoff)
        .Hint(unknown ? "look at the table: it was done as a whole, or nothing changed"
                      : "the table is as its writers left it; say it again when they write less");
  }

 private:
  std::map<std::string, std::string> Summary(const Snapshot& head) const {
    std::map<std::string, std::string> summary;
    for (const auto& [key, value] : head.summary) {
      if (key.starts_with("total-")) summary[key] = value;
    }
    summary["operation"] = "replace";
    summary["engine-name"] = "caudal";
    summary["manifests-created"] = std::to_string(report_.written);
    summary["manifests-replaced"] = std::to_string(report_.replaced);
    summary["manifests-kept"] = std::to_string(report_.kept);
    return summary;
  }

  int64_t TargetBytes(const TableMetadata& table) const {
    return std::max<int64_t>(1, options_.target_bytes.value_or(NumberProperty(
                                    table, "commit.manifest.target-size-bytes", kTargetManifestBytes)));
  }

  // In how many manifests of the target's size the group would be.
  int64_t Wanted(const TableMetadata& table, const Group& group) const {
    int64_t bytes = 0;
    for (const ManifestFile& manifest : group) bytes += manifest.manifest_length;
    return std::max<int64_t>(1, (bytes + TargetBytes(table) - 1) / TargetBytes(table));
  }

  bool CanShrink(const TableMetadata& table, const Group& group) const {
    return IsWritable(table, group[0].partition_spec_id) &&
           static_cast<int64_t>(group.size()) > Wanted(table, group);
  }

  const TableFiles& files_;
  const TableName& name_;
  const RewriteManifestsOptions& options_;
  RewriteManifestsReport report_;
  std::map<int64_t, RewriteManifestsReport> tried_;  // by the snapshot that was to be
};

}  // namespace

Result<RewriteManifestsReport> RewriteManifests(Catalog* catalog, const TableFiles& files,
                                                const TableName& name,
                                                const RewriteManifestsOptions& options) {
  return ManifestRewrite(files, name, options).Commit(catalog);
}

}  // namespace caudal::iceberg
