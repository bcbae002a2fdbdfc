#include "iceberg/maintenance/rewrite_manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "iceberg/commit/new_snapshot.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/manifest/partition_key.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kTargetManifestBytes = int64_t{8} << 20;
constexpr int kRewriteAttempts = 5;
constexpr int64_t kRewriteWait = 100;

using Group = std::vector<ManifestFile>;  // of one content and one spec

class ManifestRewrite {
 public:
  ManifestRewrite(Catalog* catalog, const TableFiles& files, const TableName& name,
                  const RewriteManifestsOptions& options)
      : catalog_(catalog), files_(files), name_(name), options_(options) {}

  Result<RewriteManifestsReport> Run() {
    int64_t wait = kRewriteWait;
    for (int attempt = 1;; ++attempt) {
      ASSIGN_OR_RETURN(const bool done, Attempt());
      if (done) return report_;
      if (attempt == kRewriteAttempts) {
        return Status::External(fmt::format("manifests of table '{}' were not rewritten after {} tries: {}",
                                            name_.ToString(), attempt, last_.message()),
                                Retry::kBackoff)
            .Hint("the table is as its writers left it; say it again when they write less");
      }
      if (options_.wait) options_.wait(wait);
      wait *= 2;
    }
  }

 private:
  Result<bool> Attempt() {
    Result<LoadedTable> loaded = catalog_->LoadTable(name_);
    if (!loaded.ok()) return Again(loaded.status());
    const TableMetadata& table = loaded->metadata;
    // An earlier try whose answer was lost.
    for (const auto& [id, report] : tried_) {
      if (table.FindSnapshot(id) == nullptr) continue;
      report_ = report;
      return true;
    }
    const SnapshotRef* ref = table.FindRef(options_.branch);
    if (ref == nullptr || ref->type != "branch") {
      if (ref == nullptr && options_.branch == "main") return true;  // it has no snapshot yet
      return Status::User(fmt::format("table '{}' has no branch '{}'", name_.ToString(), options_.branch));
    }
    report_ = {};
    written_.clear();
    Result<std::optional<Snapshot>> made = Build(table, *table.FindSnapshot(ref->snapshot_id));
    if (!made.ok()) {
      RemoveWritten();  // nobody was told of it
      return made.status();
    }
    if (!*made) return true;
    return Commit(table, *ref, **made);
  }

  Result<bool> Commit(const TableMetadata& table, const SnapshotRef& ref, const Snapshot& snapshot) {
    SnapshotRef moved = ref;
    moved.snapshot_id = snapshot.snapshot_id;
    TableCommit commit;
    commit.requirements = {AssertTableUuid{table.table_uuid},
                           AssertRefSnapshotId{options_.branch, ref.snapshot_id}};
    commit.updates = {AddSnapshot{snapshot}, SetSnapshotRef{options_.branch, moved}};
    report_.snapshot_id = snapshot.snapshot_id;
    tried_[snapshot.snapshot_id] = report_;
    const CommitAnswer answer = catalog_->Commit(name_, commit);
    if (answer.outcome == CommitOutcome::kDone) return true;
    if (answer.outcome == CommitOutcome::kRefused) RemoveWritten();  // that very snapshot nobody has
    return Again(answer.status);
  }

  Result<bool> Again(const Status& status) {
    if (status.retry() != Retry::kBackoff) return status;
    last_ = status;
    return false;
  }

  // Nothing if no group gets smaller.
  Result<std::optional<Snapshot>> Build(const TableMetadata& table, const Snapshot& head) {
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
    std::vector<ManifestFile> manifests;
    for (const auto& [key, group] : groups) {
      if (!CanShrink(table, group)) {
        manifests.insert(manifests.end(), group.begin(), group.end());
        report_.kept += static_cast<int64_t>(group.size());
        continue;
      }
      report_.replaced += static_cast<int64_t>(group.size());
      RETURN_IF_ERROR(Rewrite(table, group, &manifests));
    }
    if (report_.replaced == 0) return std::optional<Snapshot>();
    return MakeSnapshot(table, head, manifests);
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

  Result<std::optional<Snapshot>> MakeSnapshot(const TableMetadata& table, const Snapshot& head,
                                               const std::vector<ManifestFile>& manifests) {
    Snapshot snapshot{.snapshot_id = NewSnapshotId(table, files_.env()),
                      .schema_id = table.current_schema_id};
    snapshot.parent_snapshot_id = head.snapshot_id;
    snapshot.sequence_number = table.last_sequence_number + 1;
    snapshot.timestamp_ms = NextTimestamp(table, files_.env()->NowMillis());
    for (const auto& [key, value] : head.summary) {
      if (key.starts_with("total-")) snapshot.summary[key] = value;
    }
    snapshot.summary["operation"] = "replace";
    snapshot.summary["engine-name"] = "caudal";
    snapshot.summary["manifests-created"] = std::to_string(report_.written);
    snapshot.summary["manifests-replaced"] = std::to_string(report_.replaced);
    snapshot.summary["manifests-kept"] = std::to_string(report_.kept);
    ASSIGN_OR_RETURN(const WrittenManifestList list,
                     WriteManifestList(manifests, {.format_version = table.format_version,
                                                   .snapshot_id = snapshot.snapshot_id,
                                                   .parent_snapshot_id = snapshot.parent_snapshot_id,
                                                   .sequence_number = snapshot.sequence_number,
                                                   .first_row_id = table.next_row_id,
                                                   .sync = RandomMarker(files_.env())}));
    if (table.format_version >= 3) {
      snapshot.first_row_id = table.next_row_id;
      snapshot.added_rows = list.added_rows;
    }
    snapshot.manifest_list =
        fmt::format("{}/snap-{}-1-{}.avro", MetadataFolder(table), snapshot.snapshot_id, uuid_);
    RETURN_IF_ERROR(Write(snapshot.manifest_list, list.bytes));
    return std::optional(std::move(snapshot));
  }

  Status Write(const std::string& location, const std::string& bytes) {
    RETURN_IF_ERROR(files_.Write(location, bytes));
    written_.push_back(location);
    return Status();
  }

  // An orphan, no more, is what cannot be removed.
  void RemoveWritten() {
    for (const std::string& location : written_) (void)files_.Remove(location).ok();
    written_.clear();
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const RewriteManifestsOptions& options_;
  RewriteManifestsReport report_;
  std::map<int64_t, RewriteManifestsReport> tried_;  // by the snapshot that was asked for
  std::string uuid_;                                 // in the names of what the attempt writes
  std::vector<std::string> written_;                 // by the attempt, for it alone
  Status last_;
};

}  // namespace

Result<RewriteManifestsReport> RewriteManifests(Catalog* catalog, const TableFiles& files,
                                                const TableName& name,
                                                const RewriteManifestsOptions& options) {
  return ManifestRewrite(catalog, files, name, options).Run();
}

}  // namespace caudal::iceberg
