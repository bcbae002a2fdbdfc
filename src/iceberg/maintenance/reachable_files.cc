#include "iceberg/maintenance/reachable_files.h"

#include <fmt/format.h>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"

namespace caudal::iceberg {

Status ReachableFiles::Put(const std::string& location, std::map<std::string, std::string>* to) const {
  ASSIGN_OR_RETURN(std::string path, PathOf(location));
  to->emplace(std::move(path), location);
  return Status();
}

Status ReachableFiles::AddFile(const std::string& location) { return Put(location, &contents_); }

Status ReachableFiles::Add(const Snapshot& snapshot, bool live_only) {
  ASSIGN_OR_RETURN(const auto manifests, ManifestsOf(snapshot));
  for (const ManifestFile& manifest : manifests) RETURN_IF_ERROR(AddManifest(manifest, live_only));
  return Status();
}

Status ReachableFiles::AddReadable(const Snapshot& snapshot, bool live_only,
                                   std::vector<std::string>* unread) {
  if (snapshot.manifest_list.empty()) return ManifestsOf(snapshot).status();
  const auto manifests = ManifestsOf(snapshot);
  if (!manifests.ok()) {
    if (manifests.status().retry() == Retry::kBackoff) return manifests.status();
    unread->push_back(snapshot.manifest_list);
    return Status();
  }
  for (const ManifestFile& manifest : *manifests) {
    const Status status = AddManifest(manifest, live_only);
    if (status.ok()) continue;
    if (status.retry() == Retry::kBackoff) return status;
    unread->push_back(manifest.manifest_path);
    read_.insert(manifest.manifest_path);  // it is not tried once more
  }
  return Status();
}

Result<std::vector<ManifestFile>> ReachableFiles::ManifestsOf(const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) {
    return Status::User(
               fmt::format("snapshot {} lists its manifests in the metadata file", snapshot.snapshot_id))
        .Hint("rewrite the manifests of this table of format 1 with the engine that made it");
  }
  RETURN_IF_ERROR(Put(snapshot.manifest_list, &lists_));
  ASSIGN_OR_RETURN(const std::string list, files_->Read(snapshot.manifest_list));
  return ReadManifestList(list, snapshot.manifest_list);
}

Status ReachableFiles::AddManifest(const ManifestFile& manifest, bool live_only) {
  RETURN_IF_ERROR(Put(manifest.manifest_path, &manifests_));
  if (read_.contains(manifest.manifest_path)) return Status();
  ASSIGN_OR_RETURN(const std::string bytes, files_->Read(manifest.manifest_path));
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry, reader->Next());
    if (!entry) break;
    if (live_only && entry->status == EntryStatus::kDeleted) continue;
    RETURN_IF_ERROR(Put(entry->file.file_path, &contents_));
  }
  read_.insert(manifest.manifest_path);
  return Status();
}

}  // namespace caudal::iceberg
