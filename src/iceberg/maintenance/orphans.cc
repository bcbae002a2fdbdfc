#include "iceberg/maintenance/orphans.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "iceberg/maintenance/reachable_files.h"
#include "iceberg/metadata/statistics_files.h"

namespace caudal::iceberg {
namespace {

constexpr int64_t kMicrosPerMilli = 1000;

std::string NameIn(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool IsHidden(const std::string& name) { return name.starts_with('.') || name.starts_with('_'); }

bool IsMetadata(const std::string& name) { return name.find(".metadata.json") != std::string::npos; }

class OrphanSearch {
 public:
  OrphanSearch(Catalog* catalog, const TableFiles& files, const TableName& name, const OrphanOptions& options)
      : catalog_(catalog), files_(files), name_(name), options_(options), known_(&files) {}

  Result<OrphanReport> Run() {
    ASSIGN_OR_RETURN(const LoadedTable first, catalog_->LoadTable(name_));
    RETURN_IF_ERROR(Check(first.metadata));
    for (const std::string& folder : folders_) RETURN_IF_ERROR(List(folder, /*is_root=*/true));
    // What was committed since the first look is known now.
    ASSIGN_OR_RETURN(const LoadedTable table, catalog_->LoadTable(name_));
    if (table.metadata.table_uuid != first.metadata.table_uuid)
      return Status::External("the table was made anew meanwhile", Retry::kBackoff);
    RETURN_IF_ERROR(Learn(table));
    RETURN_IF_ERROR(CheckPaths());
    Sort(table);
    report_.listed = static_cast<int64_t>(found_.size());
    return std::move(report_);
  }

 private:
  Status Check(const TableMetadata& table) {
    if (const auto gc = table.properties.find("gc.enabled");
        gc != table.properties.end() && gc->second == "false") {
      return Status::User(fmt::format("table '{}' has 'gc.enabled' = 'false'", name_.ToString()))
          .Hint("its files belong to others too; set it to 'true' if they do not");
    }
    for (const std::string& location : {table.location, DataFolder(table), MetadataFolder(table)}) {
      ASSIGN_OR_RETURN(std::string path, PathOf(location));
      while (path.size() > 1 && path.back() == '/') path.pop_back();
      const bool below = std::any_of(folders_.begin(), folders_.end(),
                                     [&](const std::string& one) { return IsBelow(path, one); });
      if (!below) folders_.push_back(std::move(path));
    }
    return Status();
  }

  static bool IsBelow(const std::string& path, const std::string& folder) {
    return path == folder ||
           (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
  }

  Status List(const std::string& folder, bool is_root) {
    ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, files_.file_system()->List(folder));
    if (!is_root) {
      ASSIGN_OR_RETURN(const bool other, IsOtherTable(entries));
      if (other) return Status();
    }
    for (const FileInfo& entry : entries) {
      const std::string name = NameIn(entry.path);
      // Sinks write under hidden names, and clear them away themselves. A partition may begin so, too.
      if (IsHidden(name) && (!entry.is_directory || name.find('=') == std::string::npos)) continue;
      if (entry.is_directory) {
        RETURN_IF_ERROR(List(entry.path, false));
      } else if (entry.unreadable.empty()) {
        found_.emplace(entry.path, entry);
      }
    }
    return Status();
  }

  // A table may lie in the folder of another.
  Result<bool> IsOtherTable(const std::vector<FileInfo>& entries) const {
    for (const FileInfo& entry : entries) {
      if (!entry.is_directory || NameIn(entry.path) != "metadata") continue;
      ASSIGN_OR_RETURN(const std::vector<FileInfo> inside, files_.file_system()->List(entry.path));
      const auto is_metadata = [](const FileInfo& file) { return IsMetadata(NameIn(file.path)); };
      if (std::any_of(inside.begin(), inside.end(), is_metadata)) return true;
    }
    return false;
  }

  Status Learn(const LoadedTable& table) {
    if (!table.metadata_location.empty()) RETURN_IF_ERROR(known_.AddFile(table.metadata_location));
    RETURN_IF_ERROR(LearnOf(table.metadata, /*must=*/true));
    for (const MetadataLogEntry& entry : table.metadata.metadata_log) {
      RETURN_IF_ERROR(known_.AddFile(entry.metadata_file));
      // Of what has expired since files may be gone, and the file itself: it is only asked for what is left.
      const auto former = files_.ReadMetadata(entry.metadata_file);
      if (former.ok()) {
        RETURN_IF_ERROR(LearnOf(*former, false));
      } else if (former.status().retry() == Retry::kBackoff) {
        return former.status();
      }
    }
    return Status();
  }

  Status LearnOf(const TableMetadata& table, bool must) {
    for (const Snapshot& snapshot : table.snapshots) {
      if (!learned_.insert(snapshot.snapshot_id).second) continue;
      if (must) {
        RETURN_IF_ERROR(known_.Add(snapshot, /*live_only=*/true));
      } else if (!snapshot.manifest_list.empty()) {
        std::vector<std::string> unread;
        RETURN_IF_ERROR(known_.AddReadable(snapshot, /*live_only=*/true, &unread));
      }
    }
    const auto statistics = StatisticsFilesOf(table);
    if (!statistics.ok()) return must ? statistics.status() : Status();
    for (const StatisticsFile& one : *statistics) RETURN_IF_ERROR(known_.AddFile(one.path));
    return Status();
  }

  // The same file under two paths (a link, another mount) would be taken for an orphan.
  Status CheckPaths() const {
    std::map<std::string, std::string> unknown;  // path by name
    for (const auto& [path, file] : found_) {
      if (!known_.Has(path)) unknown.emplace(NameIn(path), path);
    }
    for (const auto* some : {&known_.lists(), &known_.manifests(), &known_.contents()}) {
      for (const auto& [path, location] : *some) {
        if (found_.contains(path)) continue;
        const auto same = unknown.find(NameIn(path));
        if (same == unknown.end()) continue;
        return Status::User(fmt::format("the table names '{}', and '{}' was found", location, same->second))
            .Hint("they may be one file under two paths; no file is taken for an orphan while that is so");
      }
    }
    return Status();
  }

  void Sort(const LoadedTable& table) {
    // A catalog of folders finds its newest version by the files themselves.
    const bool by_versions = NameIn(table.metadata_location).starts_with('v');
    const int64_t now = files_.env()->NowMicros();
    for (const auto& [path, file] : found_) {
      const std::string name = NameIn(path);
      if (known_.Has(path) || name == "version-hint.text" || (by_versions && IsMetadata(name))) continue;
      const bool timeless = file.modified_micros <= 0;  // its store writes times that are not read
      if (timeless || now - file.modified_micros < options_.min_age_ms * kMicrosPerMilli) {
        ++report_.young;
      } else if (options_.in_flight && options_.in_flight(table.metadata, name)) {
        ++report_.in_flight;
      } else {
        report_.orphans.push_back({path, file.size, file.modified_micros});
      }
    }
  }

  Catalog* catalog_;
  const TableFiles& files_;
  const TableName& name_;
  const OrphanOptions& options_;
  std::vector<std::string> folders_;  // paths
  std::map<std::string, FileInfo> found_;
  ReachableFiles known_;
  std::set<int64_t> learned_;
  OrphanReport report_;
};

}  // namespace

Result<OrphanReport> FindOrphans(Catalog* catalog, const TableFiles& files, const TableName& name,
                                 const OrphanOptions& options) {
  return OrphanSearch(catalog, files, name, options).Run();
}

}  // namespace caudal::iceberg
