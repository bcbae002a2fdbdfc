#include "connect/iceberg/sink/leftover_files.h"

#include <charconv>

#include "fs/store_file_system.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"

namespace caudal {
namespace {

// The first of the numbers "3-41-0-7…"; −1 if there is none.
int64_t FirstNumber(std::string_view text) {
  int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Status LeftoverFiles::Look(const std::string& folder, bool deep, Found* found) const {
  const std::string hidden = plan_->hidden_prefix(), final = plan_->final_prefix();
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, plan_->files->List(folder));
  for (const FileInfo& entry : entries) {
    if (entry.is_directory) {
      if (deep) RETURN_IF_ERROR(Look(entry.path, deep, found));
      continue;
    }
    const std::string name = entry.path.substr(entry.path.find_last_of('/') + 1);
    // What was being written under another name, a manifest list among them, which names the sink last.
    const bool torn =
        name.starts_with(".") && name.ends_with(".tmp") && name.find(final) != std::string::npos;
    const bool half = torn || (name.starts_with(hidden) && name.ends_with(".inprogress"));
    if (!half && !name.starts_with(final)) continue;
    const size_t at = torn ? name.find(final) + final.size() : half ? hidden.size() : final.size();
    const int64_t generation = FirstNumber(std::string_view(name).substr(at));
    if (generation < 0 || (generation >= plan_->generation && !plan_->ephemeral)) continue;
    (half ? found->half : found->whole).push_back(entry.path);
  }
  return Status();
}

Result<std::set<std::string>> LeftoverFiles::Known() const {
  std::set<std::string> known;
  std::set<std::string> read;
  for (const iceberg::Snapshot& snapshot : table_->snapshots) {
    if (snapshot.manifest_list.empty()) continue;
    ASSIGN_OR_RETURN(const std::string list, files_->Read(snapshot.manifest_list));
    ASSIGN_OR_RETURN(const auto manifests, iceberg::ReadManifestList(list, snapshot.manifest_list));
    for (const iceberg::ManifestFile& manifest : manifests) {
      if (!read.insert(manifest.manifest_path).second) continue;
      ASSIGN_OR_RETURN(const std::string path, iceberg::PathOf(manifest.manifest_path));
      known.insert(path);
      ASSIGN_OR_RETURN(const std::string bytes, files_->Read(manifest.manifest_path));
      ASSIGN_OR_RETURN(const auto reader, iceberg::ManifestReader::Open(bytes, manifest));
      for (;;) {
        ASSIGN_OR_RETURN(const auto entry, reader->Next());
        if (!entry) break;
        ASSIGN_OR_RETURN(const std::string file, iceberg::PathOf(entry->file.file_path));
        known.insert(file);
      }
    }
  }
  return known;
}

// Files that a crash left in an object store, begun and under no name.
Status LeftoverFiles::AbortUploads(const std::string& folder) const {
  PendingFiles* pending = PendingFilesAt(plan_->files, folder);
  if (pending == nullptr) return Status();
  ASSIGN_OR_RETURN(const std::vector<UnpublishedFile> found, pending->ListUnpublished(folder));
  const std::string prefix = plan_->final_prefix();
  for (const UnpublishedFile& file : found) {
    const std::string name = file.path.substr(file.path.find_last_of('/') + 1);
    if (!name.starts_with(prefix)) continue;
    const int64_t generation = FirstNumber(std::string_view(name).substr(prefix.size()));
    if (generation < 0 || (generation >= plan_->generation && !plan_->ephemeral)) continue;
    RETURN_IF_ERROR(pending->Abort(file));
  }
  return Status();
}

Status LeftoverFiles::Remove() {
  Found found;
  ASSIGN_OR_RETURN(const std::string data, iceberg::PathOf(plan_->data_folder()));
  RETURN_IF_ERROR(AbortUploads(data));
  ASSIGN_OR_RETURN(const std::string metadata, iceberg::PathOf(iceberg::MetadataFolder(*table_)));
  RETURN_IF_ERROR(Look(data, true, &found));
  RETURN_IF_ERROR(Look(metadata, false, &found));
  for (const std::string& path : found.half) RETURN_IF_ERROR(plan_->files->Remove(path));
  if (found.whole.empty()) return Status();
  ASSIGN_OR_RETURN(const std::set<std::string> known, Known());
  for (const std::string& path : found.whole) {
    if (!known.contains(path)) RETURN_IF_ERROR(plan_->files->Remove(path));
  }
  return Status();
}

}  // namespace caudal
