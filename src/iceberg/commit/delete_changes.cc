#include "iceberg/commit/delete_changes.h"

#include <fmt/format.h>

#include <cstring>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/deletes/puffin.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/manifest/partition_key.h"
#include "iceberg/partition_path.h"

namespace caudal::iceberg {
namespace {

class Maker {
 public:
  Maker(const DeleteTarget& target, std::vector<std::string>* written)
      : target_(target), table_(*target.table), written_(written) {}

  Result<DeleteChanges> Make(const DeletedRows& rows) {
    RETURN_IF_ERROR(table_.format_version >= 3 ? MakeVectors(rows) : MakePositionFiles(rows));
    for (auto& [spec, entries] : added_) RETURN_IF_ERROR(WriteManifest(spec, entries));
    return std::move(changes_);
  }

 private:
  Status MakeVectors(const DeletedRows& rows) {
    PuffinWriter puffin;
    std::vector<std::pair<const HeadFiles::Data*, DataFile>> vectors;
    const std::string location = fmt::format("{}/{}-deletes.puffin", DataFolder(table_), target_.name);
    for (const auto& [path, positions] : rows) {
      if (positions.size() == 0) continue;
      const HeadFiles::Data& data = *target_.head->FindData(path);
      PositionSet all;
      ASSIGN_OR_RETURN(const std::vector<HeadFiles::Delete> former, AddFormer(path, data, &all));
      const auto before = all.size();
      all.AddAll(positions);
      const bool is_vector = former.size() == 1 && former[0].entry->file.is_deletion_vector();
      if (is_vector && all.size() == before) continue;  // nothing new
      for (const HeadFiles::Delete& one : former) Replace(one);
      const PuffinBlob blob = puffin.AddDeletionVector(EncodeDeletionVector(all), path, all.size());
      DataFile file{.content = FileContent::kPositionDeletes, .file_path = location, .file_format = "PUFFIN"};
      file.partition = data.partition;
      file.record_count = all.size();
      file.referenced_data_file = path;
      file.content_offset = blob.offset;
      file.content_size_in_bytes = blob.length;
      vectors.emplace_back(&data, std::move(file));
    }
    if (vectors.empty()) return Status();
    const std::string bytes = puffin.Finish("caudal");
    RETURN_IF_ERROR(Write(location, bytes));
    for (auto& [data, file] : vectors) {
      file.file_size_in_bytes = static_cast<int64_t>(bytes.size());
      RETURN_IF_ERROR(Added(*data, std::move(file)));
    }
    return Status();
  }

  // What is deleted of the file already, as far as it must stand in the new vector; which deletes that
  // replaces.
  Result<std::vector<HeadFiles::Delete>> AddFormer(const std::string& path, const HeadFiles::Data& data,
                                                   PositionSet* all) {
    std::vector<HeadFiles::Delete> former;
    FileSystem* files = target_.files->file_system();
    if (const HeadFiles::Delete* vector = target_.head->FindVector(path)) {
      ASSIGN_OR_RETURN(const PositionSet positions, ReadDeletionVector(files, vector->entry->file));
      all->AddAll(positions);
      former.push_back(*vector);
      return former;  // it holds what files of positions said before it
    }
    for (const HeadFiles::Delete& one : target_.head->FindPositions(path, data)) {
      RETURN_IF_ERROR(AddDeletedPositions(files, one.entry->file, path, all));
      if (one.entry->file.referenced_data_file) former.push_back(one);
    }
    return former;
  }

  Status MakePositionFiles(const DeletedRows& rows) {
    struct Group {
      const HeadFiles::Data* data = nullptr;
      std::map<std::string, const PositionSet*> positions;
    };
    std::map<std::string, Group> groups;
    for (const auto& [path, positions] : rows) {
      if (positions.size() == 0) continue;
      const HeadFiles::Data* data = target_.head->FindData(path);
      Group& group = groups[PartitionKey(data->spec_id, data->partition)];
      group.data = data;
      group.positions.emplace(path, &positions);
    }
    int number = 0;
    for (const auto& [key, group] : groups) {
      ASSIGN_OR_RETURN(PositionDeleteFile made, WritePositionDeletes(group.positions));
      made.file.file_path =
          fmt::format("{}/{}-{}-deletes.parquet", DataFolder(table_), target_.name, number++);
      made.file.partition = group.data->partition;
      RETURN_IF_ERROR(Write(made.file.file_path, made.bytes));
      RETURN_IF_ERROR(Added(*group.data, std::move(made.file)));
    }
    return Status();
  }

  Status Added(const HeadFiles::Data& data, DataFile file) {
    const PartitionSpec* spec = table_.FindSpec(data.spec_id);
    if (spec == nullptr)
      return Status::Internal(fmt::format("the table has no partition spec {}", data.spec_id));
    ASSIGN_OR_RETURN(const std::vector<Type> types,
                     PartitionTypes(*table_.FindSchema(table_.current_schema_id), *spec));
    changes_.partitions.insert(
        fmt::format("{} {}", data.spec_id, PartitionPath(*spec, types, file.partition)));
    Count(file, &changes_.added);
    added_[data.spec_id].push_back({.file = std::move(file)});
    return Status();
  }

  void Replace(const HeadFiles::Delete& former) {
    gone_.insert(former.entry);
    Count(former.entry->file, &changes_.removed);
    const ManifestFile& manifest = *former.manifest;
    if (changes_.replaced.insert(manifest.manifest_path).second)
      rewritten_[manifest.partition_spec_id].push_back(&manifest);
    added_[manifest.partition_spec_id];  // it gets a manifest in any case
  }

  static void Count(const DataFile& file, DeleteChanges::Count* count) {
    ++count->files;
    if (file.is_deletion_vector()) ++count->vectors;
    count->positions += file.record_count;
    // Of a vector its own share of the file.
    count->bytes += file.content_size_in_bytes.value_or(file.file_size_in_bytes);
  }

  // What is new of the spec, and what stands in the manifests that are replaced.
  Status WriteManifest(int32_t spec_id, const std::vector<ManifestEntry>& added) {
    uint64_t random[] = {target_.files->env()->Random(), target_.files->env()->Random()};
    ManifestWriter::Options options{.format_version = table_.format_version,
                                    .content = ManifestContent::kDeletes};
    std::memcpy(options.sync.data(), random, options.sync.size());
    ASSIGN_OR_RETURN(ManifestWriter writer, ManifestWriter::Make(*table_.FindSchema(table_.current_schema_id),
                                                                 *table_.FindSpec(spec_id), options));
    for (const ManifestEntry& entry : added) RETURN_IF_ERROR(writer.Add(entry));
    for (const ManifestFile* manifest : rewritten_[spec_id]) {
      for (const ManifestEntry& entry : target_.head->EntriesOf(*manifest)) {
        ManifestEntry kept = entry;
        kept.status = gone_.contains(&entry) ? EntryStatus::kDeleted : EntryStatus::kExisting;
        if (kept.status == EntryStatus::kDeleted) kept.snapshot_id.reset();  // of this very snapshot
        RETURN_IF_ERROR(writer.Add(kept));
      }
    }
    ASSIGN_OR_RETURN(ManifestWriter::Written written, writer.Finish());
    written.manifest.manifest_path =
        fmt::format("{}/{}-d{}.avro", MetadataFolder(table_), target_.name, spec_id);
    RETURN_IF_ERROR(Write(written.manifest.manifest_path, written.bytes));
    changes_.manifests.push_back(std::move(written.manifest));
    return Status();
  }

  Status Write(const std::string& location, const std::string& bytes) {
    RETURN_IF_ERROR(target_.files->Write(location, bytes));
    written_->push_back(location);
    return Status();
  }

  const DeleteTarget& target_;
  const TableMetadata& table_;
  std::vector<std::string>* written_;
  DeleteChanges changes_;
  std::map<int32_t, std::vector<ManifestEntry>> added_;            // by spec
  std::map<int32_t, std::vector<const ManifestFile*>> rewritten_;  // by spec
  std::set<const ManifestEntry*> gone_;
};

}  // namespace

Status CheckDeletedRows(const HeadFiles& head, const DeletedRows& rows) {
  for (const auto& [path, positions] : rows) {
    if (positions.size() == 0) continue;
    const HeadFiles::Data* data = head.FindData(path);
    if (data == nullptr) {
      return Status::Internal(
          fmt::format("rows of '{}' are to be deleted, which the table no longer has", path));
    }
    const int64_t last = positions.ToVector().back();
    if (last < data->records) continue;
    return Status::Internal(
        fmt::format("row {} of '{}' is to be deleted, which has {}", last, path, data->records));
  }
  return Status();
}

Result<DeleteChanges> MakeDeleteChanges(const DeleteTarget& target, const DeletedRows& rows,
                                        std::vector<std::string>* written) {
  return Maker(target, written).Make(rows);
}

}  // namespace caudal::iceberg
