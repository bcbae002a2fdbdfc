#include "iceberg/commit/replace_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/manifest/partition_key.h"
#include "iceberg/partition_path.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kTargetBytes = int64_t{8} << 20;  // of a manifest

// A file of position deletes of a partition, which may be of any of its data files.
bool IsOfPartition(const DataFile& file) {
  return file.content == FileContent::kPositionDeletes && !file.referenced_data_file;
}

class ReplaceMaker {
 public:
  ReplaceMaker(const ReplaceTarget& target, const std::vector<const FileReplacement*>& groups,
               const std::vector<ManifestFile>& manifests, std::vector<std::string>* written)
      : target_(target), table_(*target.table), groups_(groups), manifests_(manifests), written_(written) {
    for (const FileReplacement* group : groups) {
      for (const RewrittenFile& file : group->from) gone_.insert(file.path);
    }
  }

  Result<ReplaceChanges> Make() {
    RETURN_IF_ERROR(WriteAdded());
    ASSIGN_OR_RETURN(DeletedRows rows, MovedDeletes());
    RETURN_IF_ERROR(TakeOutData());
    RETURN_IF_ERROR(TakeOutDeletes());
    std::vector<ManifestFile> all = made_;
    const auto stays = [&](const ManifestFile& one) { return !replaced_.contains(one.manifest_path); };
    std::copy_if(manifests_.begin(), manifests_.end(), std::back_inserter(all), stays);
    if (!rows.empty()) {
      // New files are of the head, for whoever deletes in them.
      std::vector<ManifestFile> both = manifests_;
      both.insert(both.end(), made_.begin(), made_.begin() + static_cast<std::ptrdiff_t>(added_manifests_));
      RETURN_IF_ERROR(target_.head->Load(*target_.files, both));
      ASSIGN_OR_RETURN(
          const DeleteChanges moved,
          MakeDeleteChanges({target_.files, &table_, target_.head, target_.name}, rows, written_));
      all.insert(all.end(), moved.manifests.begin(), moved.manifests.end());
      changes_.deletes.added = moved.added;
    }
    changes_.manifests = std::move(all);
    return std::move(changes_);
  }

 private:
  Result<ManifestWriter> NewManifest(int32_t spec_id, ManifestContent content) const {
    const PartitionSpec* spec = table_.FindSpec(spec_id);
    if (spec == nullptr) return Status::Internal(fmt::format("the table has no partition spec {}", spec_id));
    ManifestWriter::Options options{.format_version = table_.format_version, .content = content};
    options.sync = RandomMarker(target_.files->env());
    return ManifestWriter::Make(*table_.FindSchema(table_.current_schema_id), *spec, options);
  }

  // To a manifest of the spec, until that has the size that the table wants.
  using Writer = std::optional<ManifestWriter>;
  Status Add(int32_t spec_id, ManifestContent content, const ManifestEntry& entry, Writer* writer) {
    if (!*writer) {
      ASSIGN_OR_RETURN(ManifestWriter made, NewManifest(spec_id, content));
      writer->emplace(std::move(made));
    }
    RETURN_IF_ERROR((*writer)->Add(entry));
    const int64_t target = NumberProperty(table_, "commit.manifest.target-size-bytes", kTargetBytes);
    return (*writer)->size() < target ? Status() : Finish(writer);
  }

  Status Finish(Writer* writer) {
    if (!*writer) return Status();
    ASSIGN_OR_RETURN(ManifestWriter::Written made, (*writer)->Finish());
    writer->reset();
    made.manifest.manifest_path =
        fmt::format("{}/{}-m{}.avro", MetadataFolder(table_), target_.name, made_.size());
    RETURN_IF_ERROR(target_.files->Write(made.manifest.manifest_path, made.bytes));
    written_->push_back(made.manifest.manifest_path);
    made_.push_back(std::move(made.manifest));
    return Status();
  }

  Status WriteAdded() {
    std::map<int32_t, std::vector<const FileReplacement*>> by_spec;
    for (const FileReplacement* group : groups_) {
      if (!group->to.empty()) by_spec[group->spec_id].push_back(group);
    }
    for (const auto& [spec_id, groups] : by_spec) {
      Writer writer;
      for (const FileReplacement* group : groups) {
        for (const DataFile& file : group->to) {
          const ManifestEntry entry{.sequence_number = group->sequence_number, .file = file};
          RETURN_IF_ERROR(Add(spec_id, ManifestContent::kData, entry, &writer));
          RETURN_IF_ERROR(NotePartition(spec_id, file.partition));
          ++changes_.added.files;
          changes_.added.records += file.record_count;
          changes_.added.bytes += file.file_size_in_bytes;
        }
      }
      RETURN_IF_ERROR(Finish(&writer));
    }
    added_manifests_ = made_.size();
    return Status();
  }

  Status NotePartition(int32_t spec_id, const std::vector<Value>& partition) {
    const PartitionSpec& spec = *table_.FindSpec(spec_id);
    ASSIGN_OR_RETURN(const std::vector<Type> types,
                     PartitionTypes(*table_.FindSchema(table_.current_schema_id), spec));
    changes_.added.partitions.insert(fmt::format("{} {}", spec_id, PartitionPath(spec, types, partition)));
    return Status();
  }

  // What was deleted in the files since they were read, as rows of the new ones.
  Result<DeletedRows> MovedDeletes() {
    DeletedRows rows;
    for (const FileReplacement* group : groups_) {
      const RowMoves moves(group);
      const std::vector<const DataFile*> positions = PositionsSince(*group);
      for (size_t i = 0; i < group->from.size(); ++i) {
        ASSIGN_OR_RETURN(const PositionSet now, DeletedSince(*group, group->from[i].path, positions));
        for (const int64_t position : now.ToVector()) {
          const auto place = moves.Find(i, position);
          if (!place) continue;
          rows[group->to[place->file].file_path].Add(place->position);
          ++changes_.moved_deletes;
        }
      }
    }
    return rows;
  }

  // Files of position deletes that came since the group was read, and may be of its files.
  std::vector<const DataFile*> PositionsSince(const FileReplacement& group) const {
    std::vector<const DataFile*> found;
    const std::string partition =
        PartitionKey(group.spec_id, target_.head->FindData(group.from[0].path)->partition);
    for (const ManifestFile& manifest : manifests_) {
      if (manifest.content != ManifestContent::kDeletes) continue;
      for (const ManifestEntry& entry : target_.head->EntriesOf(manifest)) {
        const DataFile& file = entry.file;
        if (file.content != FileContent::kPositionDeletes || file.is_deletion_vector()) continue;
        if (*entry.sequence_number <= group.sequence_number) continue;
        const bool maybe = file.referenced_data_file
                               ? gone_.contains(*file.referenced_data_file)
                               : PartitionKey(manifest.partition_spec_id, file.partition) == partition;
        if (maybe) found.push_back(&file);
      }
    }
    return found;
  }

  Result<PositionSet> DeletedSince(const FileReplacement& group, const std::string& path,
                                   const std::vector<const DataFile*>& positions) const {
    FileSystem* files = target_.files->file_system();
    const HeadFiles::Delete* vector = target_.head->FindVector(path);
    if (vector != nullptr) {
      if (*vector->entry->sequence_number <= group.sequence_number) return PositionSet();
      return ReadDeletionVector(files, vector->entry->file);
    }
    PositionSet all;
    for (const DataFile* file : positions) {
      if (file->referenced_data_file && *file->referenced_data_file != path) continue;
      RETURN_IF_ERROR(AddDeletedPositions(files, *file, path, &all));
    }
    return all;
  }

  // Manifests that have files which go, as few of each spec.
  Status TakeOutData() {
    std::map<int32_t, std::map<std::string, const ManifestFile*>> touched;
    for (const std::string& path : gone_) {
      const ManifestFile* manifest = target_.head->ManifestOf(path);
      touched[manifest->partition_spec_id][manifest->manifest_path] = manifest;
    }
    for (const auto& [spec_id, manifests] : touched) {
      Writer writer;
      for (const auto& [path, manifest] : manifests) {
        replaced_.insert(path);
        ASSIGN_OR_RETURN(const std::string bytes, target_.files->Read(path));
        if (static_cast<int64_t>(bytes.size()) != manifest->manifest_length) {
          return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", path, bytes.size(),
                                          manifest->manifest_length));
        }
        ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, *manifest));
        while (true) {
          ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
          if (!entry) break;
          if (entry->status == EntryStatus::kDeleted) continue;
          const bool goes = gone_.contains(entry->file.file_path);
          if (goes) {
            RETURN_IF_ERROR(NotePartition(spec_id, entry->file.partition));
            ++changes_.removed.files;
            changes_.removed.records += entry->file.record_count;
            changes_.removed.bytes += entry->file.file_size_in_bytes;
          }
          RETURN_IF_ERROR(Add(spec_id, ManifestContent::kData, Kept(goes, std::move(*entry)), &writer));
        }
      }
      RETURN_IF_ERROR(Finish(&writer));
    }
    return Status();
  }

  // Of an entry of the head: it stays, or goes with this snapshot.
  static ManifestEntry Kept(bool goes, ManifestEntry entry) {
    entry.status = goes ? EntryStatus::kDeleted : EntryStatus::kExisting;
    if (goes) entry.snapshot_id.reset();
    return entry;
  }

  // Deletes of files that are gone go with them; so do those of a partition in which no file is left that
  // they could be of.
  Status TakeOutDeletes() {
    const std::map<std::string, int64_t> oldest = OldestLeft();
    const auto goes = [&](const ManifestFile& manifest, const ManifestEntry& entry) {
      if (entry.file.content != FileContent::kPositionDeletes) return false;
      if (!IsOfPartition(entry.file)) return gone_.contains(*entry.file.referenced_data_file);
      const auto left = oldest.find(PartitionKey(manifest.partition_spec_id, entry.file.partition));
      return left != oldest.end() && left->second > *entry.sequence_number;
    };
    std::map<int32_t, std::vector<const ManifestFile*>> touched;
    for (const ManifestFile& manifest : manifests_) {
      if (manifest.content != ManifestContent::kDeletes) continue;
      const auto& entries = target_.head->EntriesOf(manifest);
      const bool any = std::any_of(entries.begin(), entries.end(),
                                   [&](const ManifestEntry& entry) { return goes(manifest, entry); });
      if (any) touched[manifest.partition_spec_id].push_back(&manifest);
    }
    for (const auto& [spec_id, manifests] : touched) {
      Writer writer;
      for (const ManifestFile* manifest : manifests) {
        replaced_.insert(manifest->manifest_path);
        for (const ManifestEntry& entry : target_.head->EntriesOf(*manifest)) {
          const bool out = goes(*manifest, entry);
          if (out) Count(entry.file);
          RETURN_IF_ERROR(Add(spec_id, ManifestContent::kDeletes, Kept(out, entry), &writer));
        }
      }
      RETURN_IF_ERROR(Finish(&writer));
    }
    return Status();
  }

  // The smallest sequence number of the data files that stay in each partition which loses some. What is
  // added now no older delete can name.
  std::map<std::string, int64_t> OldestLeft() const {
    std::map<std::string, int64_t> oldest;
    for (const FileReplacement* group : groups_) {
      const HeadFiles::Data& data = *target_.head->FindData(group->from[0].path);
      oldest.emplace(PartitionKey(data.spec_id, data.partition), INT64_MAX);
    }
    target_.head->ForEachData([&](std::string_view path, const HeadFiles::Data& data) {
      if (gone_.contains(path)) return;
      const auto found = oldest.find(PartitionKey(data.spec_id, data.partition));
      if (found != oldest.end()) found->second = std::min(found->second, data.sequence_number);
    });
    return oldest;
  }

  void Count(const DataFile& file) {
    DeleteChanges::Count& count = changes_.deletes.removed;
    ++count.files;
    if (file.is_deletion_vector()) ++count.vectors;
    count.positions += file.record_count;
    count.bytes += file.content_size_in_bytes.value_or(file.file_size_in_bytes);
  }

  const ReplaceTarget& target_;
  const TableMetadata& table_;
  const std::vector<const FileReplacement*>& groups_;
  const std::vector<ManifestFile>& manifests_;
  std::vector<std::string>* written_;
  std::set<std::string, std::less<>> gone_;  // data files
  std::set<std::string> replaced_;           // manifests of the head
  std::vector<ManifestFile> made_;           // the first of them of what is added
  size_t added_manifests_ = 0;
  ReplaceChanges changes_;
};

}  // namespace

bool IsWhole(const HeadFiles& head, const FileReplacement& group) {
  return std::all_of(group.from.begin(), group.from.end(), [&](const RewrittenFile& file) {
    const HeadFiles::Data* data = head.FindData(file.path);
    return data != nullptr && data->records == file.records && data->spec_id == group.spec_id;
  });
}

Result<ReplaceChanges> MakeReplaceChanges(const ReplaceTarget& target,
                                          const std::vector<const FileReplacement*>& groups,
                                          const std::vector<ManifestFile>& manifests,
                                          std::vector<std::string>* written) {
  return ReplaceMaker(target, groups, manifests, written).Make();
}

}  // namespace caudal::iceberg
