#include "iceberg/scan/snapshot_changes.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/deletes/position_deletes.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/scan/delete_index.h"

namespace caudal::iceberg {
namespace {

using PositionsByFile = std::map<std::string, PositionSet, std::less<>>;

class ChangeReader {
 public:
  ChangeReader(const TableFiles& files, const TableMetadata& table, const Snapshot& snapshot)
      : files_(files), table_(table), snapshot_(snapshot) {}

  Result<SnapshotChanges> Read() {
    ASSIGN_OR_RETURN(const std::string list, files_.Read(snapshot_.manifest_list));
    ASSIGN_OR_RETURN(const auto manifests, ReadManifestList(list, snapshot_.manifest_list));
    std::vector<const ManifestFile*> older;
    for (const ManifestFile& manifest : manifests) {
      if (manifest.added_snapshot_id != snapshot_.snapshot_id) {
        if (manifest.has_live_files()) older.push_back(&manifest);
        continue;
      }
      RETURN_IF_ERROR(ReadEntries(manifest, [&](ManifestEntry entry) { Take(std::move(entry), manifest); }));
    }
    if (!new_deletes_.empty() || !removed_.empty()) {
      RETURN_IF_ERROR(CheckParent());
      RETURN_IF_ERROR(ReadNewDeletes());
      RETURN_IF_ERROR(ReadFormer(older));
    }
    return Settle();
  }

 private:
  Status ReadEntries(const ManifestFile& manifest, const std::function<void(ManifestEntry)>& take) {
    ASSIGN_OR_RETURN(const std::string bytes, files_.Read(manifest.manifest_path));
    if (static_cast<int64_t>(bytes.size()) != manifest.manifest_length) {
      return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", manifest.manifest_path,
                                      bytes.size(), manifest.manifest_length));
    }
    ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(bytes, manifest));
    while (true) {
      ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
      if (!entry) return Status();
      take(*std::move(entry));
    }
  }

  // An entry of a manifest that the snapshot wrote: what it added or took away, or only took over.
  void Take(ManifestEntry entry, const ManifestFile& manifest) {
    const bool own = entry.snapshot_id == snapshot_.snapshot_id;
    const bool data = manifest.content == ManifestContent::kData;
    LiveFile file{std::move(entry.file), manifest.partition_spec_id, *entry.sequence_number};
    if (entry.status == EntryStatus::kAdded && own) {
      (data ? added_ : new_deletes_).push_back(std::move(file));
    } else if (entry.status == EntryStatus::kDeleted && own) {
      replaces_deletes_ = replaces_deletes_ || !data;
      (data ? removed_ : former_deletes_).push_back(std::move(file));
    } else if (entry.status != EntryStatus::kDeleted) {
      (data ? kept_ : former_deletes_).push_back(std::move(file));
    }
  }

  // What went with the snapshot goes from the disk with its parent.
  Status CheckParent() const {
    const bool needed = !removed_.empty() || replaces_deletes_;
    const std::optional<int64_t> parent = snapshot_.parent_snapshot_id;
    if (!needed || !parent || table_.FindSnapshot(*parent) != nullptr) return Status();
    return Status::User(fmt::format("the rows that snapshot {} took away are gone: snapshot {}, which had "
                                    "them, expired before they were read",
                                    snapshot_.snapshot_id, *parent))
        .Hint(
            "start with another state folder, which reads the table as 'starting-strategy' says, and let "
            "snapshots live longer (history.expire.max-snapshot-age-ms)");
  }

  // What the snapshot's own deletes say, by data file.
  Status ReadNewDeletes() {
    for (const LiveFile& deletes : new_deletes_) {
      if (deletes.file.content == FileContent::kEqualityDeletes) {
        return Status::User(fmt::format("snapshot {} deletes rows by their values ('{}'), so that it cannot "
                                        "be told which rows went",
                                        snapshot_.snapshot_id, deletes.file.file_path))
            .Hint(
                "let its writer delete by position, rewrite the table's files with the engine that wrote "
                "them, and start with another state folder and 'starting-strategy' = "
                "'TABLE_SCAN_THEN_INCREMENTAL'");
      }
      if (!deletes.file.is_deletion_vector()) {
        RETURN_IF_ERROR(AddAllDeletedPositions(files_.file_system(), deletes.file, &new_positions_));
        continue;
      }
      ASSIGN_OR_RETURN(PositionSet vector, ReadDeletionVector(files_.file_system(), deletes.file));
      const std::string& of = deletes.file.referenced_data_file.value_or("");
      whole_.insert(of);
      new_positions_[of].AddAll(vector);
    }
    return Status();
  }

  // The parent's files that the deletes are of, and what was deleted in them before.
  Status ReadFormer(const std::vector<const ManifestFile*>& older) {
    std::erase_if(kept_, [&](const LiveFile& file) { return !new_positions_.contains(file.file.file_path); });
    for (const ManifestFile* manifest : older) {
      const bool data = manifest->content == ManifestContent::kData;
      RETURN_IF_ERROR(ReadEntries(*manifest, [&](ManifestEntry entry) {
        if (entry.status == EntryStatus::kDeleted) return;
        if (data && !new_positions_.contains(entry.file.file_path)) return;
        LiveFile file{std::move(entry.file), manifest->partition_spec_id, *entry.sequence_number};
        (data ? kept_ : former_deletes_).push_back(std::move(file));
      }));
    }
    ASSIGN_OR_RETURN(const DeleteIndex index, DeleteIndex::Make(&former_deletes_, table_));
    std::set<size_t> needed;
    for (const auto* files : {&kept_, &removed_}) {
      for (const LiveFile& file : *files) {
        std::vector<size_t> found = index.Find(file);
        needed.insert(found.begin(), found.end());
        applying_[file.file.file_path] = std::move(found);
      }
    }
    for (const size_t number : needed) RETURN_IF_ERROR(ReadFormerDelete(number));
    return Status();
  }

  // Each file of deletes once, whatever the number of data files that it is for.
  Status ReadFormerDelete(size_t number) {
    const DataFile& deletes = former_deletes_[number].file;
    if (deletes.content == FileContent::kEqualityDeletes) {
      return Status::User(fmt::format("'{}' deletes rows by their values before snapshot {}, so that it "
                                      "cannot be told which of its rows were still there",
                                      deletes.file_path, snapshot_.snapshot_id))
          .Hint(
              "rewrite the table's files with the engine that wrote it, and start with another state folder");
    }
    PositionsByFile& positions = former_positions_[number];
    if (!deletes.is_deletion_vector())
      return AddAllDeletedPositions(files_.file_system(), deletes, &positions);
    ASSIGN_OR_RETURN(positions[deletes.referenced_data_file.value_or("")],
                     ReadDeletionVector(files_.file_system(), deletes));
    return Status();
  }

  PositionSet FormerlyDeleted(const std::string& path) const {
    PositionSet positions;
    const auto applying = applying_.find(path);
    if (applying == applying_.end()) return positions;
    for (const size_t number : applying->second) {
      const PositionsByFile& of = former_positions_.at(number);
      if (const auto found = of.find(path); found != of.end()) positions.AddAll(found->second);
    }
    return positions;
  }

  Result<SnapshotChanges> Settle() {
    SnapshotChanges changes;
    for (LiveFile& file : removed_) {
      PositionSet gone = FormerlyDeleted(file.file.file_path);
      changes.rows.push_back({std::move(file), false, false, std::move(gone)});
    }
    for (LiveFile& file : kept_) {
      const std::string path = file.file.file_path;
      const auto found = new_positions_.find(path);
      if (found == new_positions_.end()) continue;
      const PositionSet former = FormerlyDeleted(path);
      PositionSet went;
      went.AddAll(found->second);
      went.RemoveAll(former);
      if (whole_.contains(path) && went.size() != found->second.size() - former.size()) {
        return Status::Data(fmt::format("snapshot {} brings rows of '{}' back that were deleted",
                                        snapshot_.snapshot_id, path))
            .Hint("its writer did not merge deletion vectors; `caudal table check` tells what else is wrong");
      }
      if (went.size() > 0) changes.rows.push_back({std::move(file), false, true, std::move(went)});
    }
    for (LiveFile& file : added_) {
      ChangedRows rows{std::move(file), true, false, {}};
      const auto found = new_positions_.find(rows.data.file.file_path);
      if (found != new_positions_.end()) rows.positions.AddAll(found->second);
      changes.rows.push_back(std::move(rows));
    }
    return changes;
  }

  const TableFiles& files_;
  const TableMetadata& table_;
  const Snapshot& snapshot_;
  std::vector<LiveFile> added_, removed_, kept_;  // data files; kept_: of the parent and still there
  std::vector<LiveFile> new_deletes_, former_deletes_;
  bool replaces_deletes_ = false;
  PositionsByFile new_positions_;
  std::set<std::string, std::less<>> whole_;  // files of which the new vector says all that is deleted
  std::unordered_map<std::string, std::vector<size_t>> applying_;  // by data file, in former_deletes_
  std::map<size_t, PositionsByFile> former_positions_;
};

}  // namespace

Result<SnapshotChanges> ReadChanges(const TableFiles& files, const TableMetadata& table,
                                    const Snapshot& snapshot) {
  return ChangeReader(files, table, snapshot).Read();
}

}  // namespace caudal::iceberg
