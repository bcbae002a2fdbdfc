#include "iceberg/maintenance/rewrite_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/manifest/partition_key.h"
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
    written_ = attempt.written;
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
    uuid_ = files_.NewUuid();
    SnapshotContents contents{.schema_id = table.current_schema_id, .name = uuid_};
    for (const auto& [key, group] : groups) {
      if (!CanShrink(table, group)) {
        contents.manifests.insert(contents.manifests.end(), group.begin(), group.end());
        report_.kept += static_cast<int64_t>(group.size());
        continue;
      }
      report_.replaced += static_cast<int64_t>(group.size());
      RETURN_IF_ERROR(Rewrite(table, group, &contents.manifests));
    }
    if (report_.replaced == 0) return std::optional<SnapshotContents>();
    contents.summary = Summary(head);
    report_.snapshot_id = attempt.snapshot_id;
    tried_[attempt.snapshot_id] = report_;
    return std::optional(std::move(contents));
  }

  Status GaveUp(int64_t attempts, bool, const Status& last) const override {
    return Status::External(fmt::format("manifests of table '{}' were not rewritten after {} tries: {}",
                                        name_.ToString(), attempts, last.message()),
                            Retry::kBackoff)
        .Hint("the table is as its writers left it; say it again when they write less");
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

  bool CanShrink(const TableMetadata& table, const Group& group) const {
    const PartitionSpec* spec = table.FindSpec(group[0].partition_spec_id);
    // Of a column that is gone no partition can be written.
    if (spec == nullptr || !PartitionTypes(*table.FindSchema(table.current_schema_id), *spec).ok())
      return false;
    int64_t bytes = 0;
    for (const ManifestFile& manifest : group) bytes += manifest.manifest_length;
    const int64_t wanted = (bytes + TargetBytes(table) - 1) / TargetBytes(table);
    return static_cast<int64_t>(group.size()) > wanted;
  }

  Status Rewrite(const TableMetadata& table, const Group& group, std::vector<ManifestFile>* manifests) {
    std::vector<std::pair<std::string, ManifestEntry>> entries;  // by partition
    int64_t bytes = 0;
    for (const ManifestFile& manifest : group) {
      bytes += manifest.manifest_length;
      ASSIGN_OR_RETURN(const std::string text, files_.Read(manifest.manifest_path));
      ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(text, manifest));
      while (true) {
        ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
        if (!entry) break;
        if (entry->status == EntryStatus::kDeleted) continue;
        entry->status = EntryStatus::kExisting;
        std::string key = PartitionKey(0, entry->file.partition);
        entries.emplace_back(std::move(key), std::move(*entry));
      }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto count = static_cast<int64_t>(entries.size());
    const int64_t parts = std::max<int64_t>(1, (bytes + TargetBytes(table) - 1) / TargetBytes(table));
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = count * part / parts, last = count * (part + 1) / parts;
      if (first == last) continue;
      ManifestWriter::Options how{.format_version = table.format_version, .content = group[0].content};
      how.sync = RandomMarker(files_.env());
      ASSIGN_OR_RETURN(ManifestWriter writer,
                       ManifestWriter::Make(*table.FindSchema(table.current_schema_id),
                                            *table.FindSpec(group[0].partition_spec_id), how));
      for (int64_t i = first; i < last; ++i)
        RETURN_IF_ERROR(writer.Add(entries[static_cast<size_t>(i)].second));
      ASSIGN_OR_RETURN(ManifestWriter::Written made, writer.Finish());
      made.manifest.manifest_path =
          fmt::format("{}/{}-m{}.avro", MetadataFolder(table), uuid_, report_.written++);
      RETURN_IF_ERROR(Write(made.manifest.manifest_path, made.bytes));
      manifests->push_back(std::move(made.manifest));
    }
    return Status();
  }

  Status Write(const std::string& location, const std::string& bytes) {
    RETURN_IF_ERROR(files_.Write(location, bytes));
    written_->push_back(location);
    return Status();
  }

  const TableFiles& files_;
  const TableName& name_;
  const RewriteManifestsOptions& options_;
  RewriteManifestsReport report_;
  std::map<int64_t, RewriteManifestsReport> tried_;  // by the snapshot that was to be
  std::string uuid_;                                 // in the names of what the attempt writes
  std::vector<std::string>* written_ = nullptr;      // by the attempt, for it alone
};

}  // namespace

Result<RewriteManifestsReport> RewriteManifests(Catalog* catalog, const TableFiles& files,
                                                const TableName& name,
                                                const RewriteManifestsOptions& options) {
  return ManifestRewrite(files, name, options).Commit(catalog);
}

}  // namespace caudal::iceberg
