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
  if (snapshot.manifest_list.empty()) {
    return Status::User(
               fmt::format("snapshot {} lists its manifests in the metadata file", snapshot.snapshot_id))
        .Hint("rewrite the manifests of this table of format 1 with the engine that made it");
  }
  RETURN_IF_ERROR(Put(snapshot.manifest_list, &lists_));
  ASSIGN_OR_RETURN(const std::string list, files_->Read(snapshot.manifest_list));
  ASSIGN_OR_RETURN(const auto manifests, ReadManifestList(list, snapshot.manifest_list));
  for (const ManifestFile& manifest : manifests) RETURN_IF_ERROR(AddManifest(manifest, live_only));
  return Status();
}

Status ReachableFiles::AddManifest(const ManifestFile& manifest, bool live_only) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(manifest.manifest_path));
  if (!manifests_.emplace(path, manifest.manifest_path).second) return Status();
  ASSIGN_OR_RETURN(const std::string bytes, files_->Read(manifest.manifest_path));
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<ManifestEntry> entry, reader->Next());
    if (!entry) return Status();
    if (live_only && entry->status == EntryStatus::kDeleted) continue;
    RETURN_IF_ERROR(Put(entry->file.file_path, &contents_));
  }
}

}  // namespace caudal::iceberg
