#include "iceberg/commit/head_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/partition_key.h"

namespace caudal::iceberg {

Result<std::unique_ptr<HeadFiles::Contents>> HeadFiles::Read(const TableFiles& files,
                                                             const ManifestFile& manifest) {
  auto contents = std::make_unique<Contents>();
  contents->manifest = manifest;
  ASSIGN_OR_RETURN(const std::string bytes, files.Read(manifest.manifest_path));
  if (static_cast<int64_t>(bytes.size()) != manifest.manifest_length) {
    return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", manifest.manifest_path,
                                    bytes.size(), manifest.manifest_length));
  }
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
  while (true) {
    ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
    if (!entry) return contents;
    if (entry->status == EntryStatus::kDeleted) continue;
    if (manifest.content == ManifestContent::kDeletes) {
      contents->deletes.push_back(std::move(*entry));
    } else {
      DataFile& file = entry->file;
      contents->data.emplace_back(std::move(file.file_path),
                                  Data{manifest.partition_spec_id, std::move(file.partition),
                                       file.record_count, *entry->sequence_number});
    }
  }
}

Status HeadFiles::AddVectors(const Contents& contents) {
  for (const ManifestEntry& entry : contents.deletes) {
    if (!entry.file.is_deletion_vector()) continue;
    const auto& path = entry.file.referenced_data_file;
    if (!path) {
      return Status::Data(
          fmt::format("the deletion vector in '{}' names no data file", entry.file.file_path));
    }
    if (vectors_.emplace(*path, Delete{&contents.manifest, &entry}).second) continue;
    return Status::Data(fmt::format("the data file '{}' has two deletion vectors", *path))
        .Hint("the table was damaged by a writer that did not merge them; restore it from an older snapshot");
  }
  return {};
}

void HeadFiles::Forget(const Contents& contents) {
  for (const auto& [path, data] : contents.data) {
    // It may have moved to another manifest, which was added before.
    const auto found = data_.find(path);
    if (found != data_.end() && found->second.contents == &contents) data_.erase(found);
  }
}

Status HeadFiles::Load(const TableFiles& files, const std::vector<ManifestFile>& manifests) {
  Status changed = Change(files, manifests);
  if (!changed.ok()) {
    // Half of a change: paths may have moved to manifests that nobody wants next time.
    vectors_.clear();
    data_.clear();
    contents_.clear();
  }
  return changed;
}

Status HeadFiles::Change(const TableFiles& files, const std::vector<ManifestFile>& manifests) {
  std::set<std::string_view> wanted;
  for (const ManifestFile& manifest : manifests) wanted.insert(manifest.manifest_path);
  vectors_.clear();
  for (const ManifestFile& manifest : manifests) {
    if (Settle(manifest)) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Contents> contents, Read(files, manifest));
    for (const auto& [path, data] : contents->data) data_.erase(path);  // its key lies in the former manifest
    for (const auto& [path, data] : contents->data) data_[path] = {contents.get(), &data};
    contents_.emplace(manifest.manifest_path, std::move(contents));
  }
  for (auto at = contents_.begin(); at != contents_.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    Forget(*at->second);
    at = contents_.erase(at);
  }
  for (const auto& [path, contents] : contents_) RETURN_IF_ERROR(AddVectors(*contents));
  return {};
}

// Whether the manifest is known. One that was loaded before its commit gets the numbers that the commit gave.
bool HeadFiles::Settle(const ManifestFile& manifest) {
  const auto found = contents_.find(manifest.manifest_path);
  if (found == contents_.end()) return false;
  Contents& contents = *found->second;
  if (contents.manifest.added_snapshot_id || !manifest.added_snapshot_id) return true;
  contents.manifest = manifest;
  for (auto& [path, data] : contents.data) {
    if (data.sequence_number == 0) data.sequence_number = manifest.sequence_number.value_or(0);
  }
  return true;
}

const HeadFiles::Data* HeadFiles::FindData(std::string_view path) const {
  const auto found = data_.find(path);
  return found == data_.end() ? nullptr : found->second.data;
}

const ManifestFile* HeadFiles::ManifestOf(std::string_view path) const {
  const auto found = data_.find(path);
  return found == data_.end() ? nullptr : &found->second.contents->manifest;
}

void HeadFiles::ForEachData(const std::function<void(std::string_view, const Data&)>& each) const {
  for (const auto& [path, place] : data_) each(path, *place.data);
}

bool HeadFiles::HasAnyOf(const HeadFiles& other) const {
  return std::any_of(other.data_.begin(), other.data_.end(),
                     [&](const auto& one) { return data_.contains(one.first); });
}

const HeadFiles::Delete* HeadFiles::FindVector(std::string_view path) const {
  const auto found = vectors_.find(path);
  return found == vectors_.end() ? nullptr : &found->second;
}

std::vector<HeadFiles::Delete> HeadFiles::FindPositions(std::string_view path, const Data& data) const {
  std::vector<Delete> found;
  for (const auto& [name, contents] : contents_) {
    for (const ManifestEntry& entry : contents->deletes) {
      const DataFile& file = entry.file;
      if (file.content != FileContent::kPositionDeletes || file.is_deletion_vector()) continue;
      const bool same_partition = contents->manifest.partition_spec_id == data.spec_id &&
                                  PartitionKey(0, file.partition) == PartitionKey(0, data.partition);
      if (file.referenced_data_file ? *file.referenced_data_file == path : same_partition)
        found.push_back({&contents->manifest, &entry});
    }
  }
  return found;
}

const std::vector<ManifestEntry>& HeadFiles::EntriesOf(const ManifestFile& manifest) const {
  return contents_.at(manifest.manifest_path)->deletes;
}

}  // namespace caudal::iceberg
