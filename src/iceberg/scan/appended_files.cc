#include "iceberg/scan/appended_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"

namespace caudal::iceberg {

Result<std::vector<const Snapshot*>> SnapshotsAfter(const TableMetadata& table, std::optional<int64_t> after,
                                                    int64_t head) {
  std::vector<const Snapshot*> snapshots;
  std::optional<int64_t> id = head;
  while (id != after) {
    const Snapshot* snapshot = id ? table.FindSnapshot(*id) : nullptr;
    // A snapshot has one parent, and no more of them than there are snapshots.
    if (snapshot == nullptr || snapshots.size() > table.snapshots.size()) {
      return Status::User(after
                              ? fmt::format("snapshot {}, up to which the table was read, is no ancestor of "
                                            "snapshot {}, where it is now",
                                            *after, head)
                              : fmt::format("the ancestors of snapshot {} do not go back to the first "
                                            "snapshot: some have expired",
                                            head))
          .Hint(
              "snapshots expired before they were read, or the branch was set back; start with another state "
              "folder, which reads the table as 'starting-strategy' says");
    }
    snapshots.push_back(snapshot);
    id = snapshot->parent_snapshot_id;
  }
  std::reverse(snapshots.begin(), snapshots.end());
  return snapshots;
}

Result<ScanPlan> AppendedFiles(const TableFiles& files, const Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const std::string list, files.Read(snapshot.manifest_list));
  ASSIGN_OR_RETURN(const auto manifests, ReadManifestList(list, snapshot.manifest_list));
  ScanPlan plan;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kData || manifest.added_snapshot_id != snapshot.snapshot_id)
      continue;
    ASSIGN_OR_RETURN(const std::string bytes, files.Read(manifest.manifest_path));
    if (static_cast<int64_t>(bytes.size()) != manifest.manifest_length) {
      return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", manifest.manifest_path,
                                      bytes.size(), manifest.manifest_length));
    }
    ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
    while (true) {
      ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
      if (!entry) break;
      // Manifests are merged: what an older snapshot added may stand beside it.
      if (entry->status != EntryStatus::kAdded || entry->snapshot_id != snapshot.snapshot_id) continue;
      plan.files.push_back(
          {{std::move(entry->file), manifest.partition_spec_id, *entry->sequence_number}, {}});
    }
  }
  return plan;
}

}  // namespace caudal::iceberg
