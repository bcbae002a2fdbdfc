#include "iceberg/maintenance/table_check.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "iceberg/maintenance/file_check.h"
#include "iceberg/maintenance/manifest_check.h"
#include "iceberg/maintenance/metadata_check.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/manifest/partition_key.h"
#include "iceberg/metadata/statistics_files.h"
#include "iceberg/scan/delete_index.h"

namespace caudal::iceberg {
namespace {

// What a snapshot's totals should be.
struct LiveTotals {
  int64_t data_files = 0, records = 0, delete_files = 0;
};

class TableCheck {
 public:
  TableCheck(const TableFiles& files, const TableMetadata& table, const TableCheckOptions& options)
      : files_(files), table_(table), options_(options), found_(options.all), file_check_(&files, &found_) {}

  Result<TableCheckReport> Run() {
    CheckMetadata(table_, &found_);
    for (const Snapshot& snapshot : table_.snapshots) {
      if (found_.enough()) break;
      RETURN_IF_ERROR(CheckSnapshot(snapshot));
      ++report_.snapshots;
    }
    if (!found_.enough()) RETURN_IF_ERROR(CheckStatistics());
    report_.violations = found_.Take();
    report_.manifests = static_cast<int64_t>(manifests_.size());
    report_.files = file_check_.files();
    report_.bytes = file_check_.bytes();
    return std::move(report_);
  }

 private:
  Status CheckSnapshot(const Snapshot& snapshot) {
    const std::string place = fmt::format("snapshot {}", snapshot.snapshot_id);
    if (snapshot.manifest_list.empty()) {
      found_.Add(place, "it has no manifest list");
      return Status();
    }
    const std::string list_place = fmt::format("{}, manifest list '{}'", place, snapshot.manifest_list);
    ASSIGN_OR_RETURN(const auto bytes, ReadIfThere(files_, snapshot.manifest_list, list_place, &found_));
    if (!bytes) return Status();
    const auto lines = ReadManifestList(*bytes, snapshot.manifest_list);
    if (!lines.ok()) {
      found_.Add(list_place, lines.status().message());
      return Status();
    }
    std::vector<const CheckedManifest*> manifests;
    std::unordered_set<std::string> listed;
    for (const ManifestFile& line : *lines) {
      const std::string at = fmt::format("{}, manifest '{}'", place, line.manifest_path);
      if (!listed.insert(line.manifest_path).second) found_.Add(at, "it is listed twice");
      if (line.sequence_number.value_or(0) > snapshot.sequence_number) {
        found_.Add(at, fmt::format("it has the sequence number {}, and the snapshot {}",
                                   *line.sequence_number, snapshot.sequence_number));
      }
      ASSIGN_OR_RETURN(manifests.emplace_back(), Manifest(line, at));
      if (found_.enough()) return Status();
    }
    return CheckLive(snapshot, place, manifests);
  }

  // Read once, though many snapshots list it.
  Result<const CheckedManifest*> Manifest(const ManifestFile& line, const std::string& place) {
    const auto known = manifests_.find(line.manifest_path);
    if (known == manifests_.end()) {
      ASSIGN_OR_RETURN(CheckedManifest checked, CheckManifest(files_, table_, line, place, &found_));
      return &manifests_.emplace(line.manifest_path, std::move(checked)).first->second;
    }
    ManifestFile same = line;
    // A list of format 2 gave no row ids yet.
    if (!same.first_row_id || !known->second.line.first_row_id)
      same.first_row_id = known->second.line.first_row_id;
    if (!(known->second.line == same))
      found_.Add(place, "another snapshot's list says something else of this manifest");
    return &known->second;
  }

  Status CheckLive(const Snapshot& snapshot, const std::string& place,
                   const std::vector<const CheckedManifest*>& manifests) {
    std::unordered_map<std::string_view, const ManifestEntry*> data;
    std::vector<LiveFile> deletes;
    LiveTotals totals;
    for (const CheckedManifest* manifest : manifests) {
      for (const ManifestEntry& entry : manifest->live) {
        const DataFile& file = entry.file;
        const std::string at = fmt::format("{}, file '{}'", place, file.file_path);
        if (file.content == FileContent::kData) {
          ++totals.data_files;
          totals.records += file.record_count;
          if (!data.emplace(file.file_path, &entry).second) found_.Add(at, "the data file is there twice");
        } else {
          ++totals.delete_files;
          deletes.push_back({file, manifest->line.partition_spec_id, *entry.sequence_number});
        }
        if (options_.files) RETURN_IF_ERROR(file_check_.Check(file, at));
        if (found_.enough()) return Status();
      }
    }
    CheckTotals(snapshot, place, totals);
    if (table_.format_version >= 3) CheckRowIds(place, data);
    CheckVectors(place, data, deletes);
    if (found_.enough() || !options_.files) return Status();
    return CheckDeletes(place, manifests, deletes);
  }

  // No row of a snapshot has the id of another.
  void CheckRowIds(const std::string& place,
                   const std::unordered_map<std::string_view, const ManifestEntry*>& data) {
    std::map<int64_t, const DataFile*> by_first;
    for (const auto& [path, entry] : data) {
      const DataFile& file = entry->file;
      if (!file.first_row_id || file.record_count == 0) continue;
      if (!by_first.emplace(*file.first_row_id, &file).second)
        found_.Add(fmt::format("{}, file '{}'", place, path), "another data file has its row ids");
    }
    const DataFile* before = nullptr;
    for (const auto& [first, file] : by_first) {
      if (before != nullptr && *before->first_row_id + before->record_count > first) {
        found_.Add(fmt::format("{}, file '{}'", place, file->file_path),
                   fmt::format("its row ids begin among those of '{}'", before->file_path));
      }
      before = file;
    }
  }

  void CheckVectors(const std::string& place,
                    const std::unordered_map<std::string_view, const ManifestEntry*>& data,
                    const std::vector<LiveFile>& deletes) {
    std::unordered_set<std::string_view> covered;
    for (const LiveFile& one : deletes) {
      if (!one.file.is_deletion_vector() || !one.file.referenced_data_file) continue;
      const std::string& path = *one.file.referenced_data_file;
      const std::string at =
          fmt::format("{}, deletion vector of '{}' in '{}'", place, path, one.file.file_path);
      if (!covered.insert(path).second) found_.Add(at, "the data file has another deletion vector");
      const auto file = data.find(path);
      if (file == data.end()) {
        found_.Add(at, "the snapshot does not have the data file");
        continue;
      }
      if (*file->second->sequence_number > one.sequence_number) {
        found_.Add(at, fmt::format("it has the sequence number {}, and the data file {}", one.sequence_number,
                                   *file->second->sequence_number));
      }
      if (PartitionKey(0, file->second->file.partition) != PartitionKey(0, one.file.partition))
        found_.Add(at, "it is of another partition than the data file");
    }
  }

  // What deletes name are rows of the files they apply to.
  Status CheckDeletes(const std::string& place, const std::vector<const CheckedManifest*>& manifests,
                      const std::vector<LiveFile>& deletes) {
    const auto index = DeleteIndex::Make(&deletes, table_);
    if (!index.ok()) return Status();  // two vectors of one file, which was said
    for (const CheckedManifest* manifest : manifests) {
      for (const ManifestEntry& entry : manifest->live) {
        if (entry.file.content != FileContent::kData || deletes.empty()) continue;
        for (const size_t number :
             index->Find({entry.file, manifest->line.partition_spec_id, *entry.sequence_number})) {
          const DataFile& one = deletes[number].file;
          if (one.content != FileContent::kPositionDeletes) continue;
          const std::string at =
              fmt::format("{}, deletes of '{}' in '{}'", place, entry.file.file_path, one.file_path);
          RETURN_IF_ERROR(one.is_deletion_vector() ? file_check_.CheckVector(one, entry.file, at)
                                                   : file_check_.CheckPositions(one, entry.file, at));
          if (found_.enough()) return Status();
        }
      }
    }
    return Status();
  }

  // A summary need not tell them, but what it tells is the table's.
  void CheckTotals(const Snapshot& snapshot, const std::string& place, const LiveTotals& totals) {
    const auto compare = [&](const char* name, int64_t counted) {
      const auto said = snapshot.summary.find(name);
      if (said == snapshot.summary.end()) return;
      int64_t number = 0;
      const char* end = said->second.data() + said->second.size();
      const auto [stop, error] = std::from_chars(said->second.data(), end, number);
      if (error == std::errc() && stop == end && number == counted) return;
      found_.Add(place,
                 fmt::format("its summary says {} = {}, and there are {}", name, said->second, counted));
    };
    compare("total-data-files", totals.data_files);
    compare("total-records", totals.records);
    compare("total-delete-files", totals.delete_files);
  }

  Status CheckStatistics() {
    const auto statistics = StatisticsFilesOf(table_);
    if (!statistics.ok()) {
      found_.Add("statistics", statistics.status().message());
      return Status();
    }
    for (const StatisticsFile& one : *statistics) {
      if (table_.FindSnapshot(one.snapshot_id) == nullptr)
        found_.Add(fmt::format("statistics file '{}'", one.path),
                   fmt::format("there is no snapshot {}", one.snapshot_id));
      if (options_.files) RETURN_IF_ERROR(file_check_.CheckStatistics(one));
      if (found_.enough()) return Status();
    }
    return Status();
  }

  const TableFiles& files_;
  const TableMetadata& table_;
  const TableCheckOptions& options_;
  Violations found_;
  FileCheck file_check_;
  TableCheckReport report_;
  std::unordered_map<std::string, CheckedManifest> manifests_;
};

}  // namespace

Result<TableCheckReport> CheckTable(const TableFiles& files, const TableMetadata& table,
                                    const TableCheckOptions& options) {
  return TableCheck(files, table, options).Run();
}

}  // namespace caudal::iceberg
