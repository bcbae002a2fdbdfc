#include "iceberg/scan/scan_plan.h"

#include <fmt/format.h>

#include <set>

#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/scan/delete_index.h"

namespace caudal::iceberg {
namespace {

Status ReadLive(const TableFiles& files, const ManifestFile& manifest, ScanPlan* plan) {
  ASSIGN_OR_RETURN(const std::string bytes, files.Read(manifest.manifest_path));
  if (static_cast<int64_t>(bytes.size()) != manifest.manifest_length) {
    return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", manifest.manifest_path,
                                    bytes.size(), manifest.manifest_length));
  }
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
  while (true) {
    ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
    if (!entry) return {};
    if (entry->status == EntryStatus::kDeleted) continue;
    LiveFile live{std::move(entry->file), manifest.partition_spec_id, *entry->sequence_number};
    if (manifest.content == ManifestContent::kDeletes) {
      plan->deletes.push_back(std::move(live));
    } else {
      plan->files.push_back({std::move(live), {}});
    }
  }
}

}  // namespace

Result<ScanPlan> PlanScan(const TableFiles& files, const TableMetadata& table, const Snapshot& snapshot) {
  if (snapshot.manifest_list.empty()) {
    return Status::User(
               fmt::format("snapshot {} lists its manifests in the metadata file", snapshot.snapshot_id))
        .Hint("rewrite the manifests of this table of format 1 with the engine that made it");
  }
  ASSIGN_OR_RETURN(const std::string bytes, files.Read(snapshot.manifest_list));
  ASSIGN_OR_RETURN(const auto manifests, ReadManifestList(bytes, snapshot.manifest_list));
  ScanPlan plan;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.has_live_files()) RETURN_IF_ERROR(ReadLive(files, manifest, &plan));
  }
  std::set<std::string_view> paths;
  ASSIGN_OR_RETURN(const DeleteIndex index, DeleteIndex::Make(&plan.deletes, table));
  for (ScanFile& file : plan.files) {
    if (!paths.insert(file.data.file.file_path).second) {
      return Status::Data(fmt::format("snapshot {} has the data file '{}' twice", snapshot.snapshot_id,
                                      file.data.file.file_path));
    }
    file.deletes = index.Find(file.data);
  }
  return plan;
}

}  // namespace caudal::iceberg
