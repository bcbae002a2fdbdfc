#include "iceberg/catalog/hadoop_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fs/store_file_system.h"
#include "iceberg/catalog/new_metadata.h"

namespace caudal::iceberg {
namespace {

constexpr std::string_view kHint = "version-hint.text";
// As writers name a version's file, which may be packed.
constexpr std::string_view kEndings[] = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};
constexpr int kDeepest = 16;  // levels of namespaces that are looked into

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsVersionFile(const std::string& name) {
  return name.starts_with('v') && MetadataVersion(name) > 0 &&
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

Status CheckName(std::string_view name) {
  const bool plain = !name.empty() && name.find('/') == std::string_view::npos && name[0] != '.';
  return plain ? Status() : Status::User(fmt::format("'{}' cannot be the name of a folder", name));
}

Status NoTable(const TableName& name, const std::string& location) {
  return Status::User(fmt::format("there is no table '{}': '{}' has no metadata", name.ToString(), location));
}

}  // namespace

Result<std::unique_ptr<HadoopCatalog>> HadoopCatalog::Open(const std::string& warehouse,
                                                           FileSystem* file_system, const TableFiles* files) {
  RETURN_IF_ERROR(PathOf(warehouse).status());
  return std::unique_ptr<HadoopCatalog>(new HadoopCatalog(warehouse, file_system, files));
}

std::string HadoopCatalog::LocationOf(const std::vector<std::string>& space) const {
  return fmt::format("{}/{}", warehouse_, fmt::join(space, "/"));
}

Result<bool> HadoopCatalog::IsTable(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(path + "/metadata"));
  return std::ranges::any_of(entries, [](const FileInfo& each) { return IsVersionFile(NameOf(each.path)); });
}

Status HadoopCatalog::CreateNamespace(const std::vector<std::string>& space) {
  for (const std::string& level : space) RETURN_IF_ERROR(CheckName(level));
  ASSIGN_OR_RETURN(const std::string path, PathOf(LocationOf(space)));
  // A store has no folders: an object stands for one that is empty.
  if (PendingFilesAt(file_system_, path) != nullptr)
    return file_system_->CreateIfAbsent(path + "/", "").status();
  return file_system_->MakeDirectories(path);
}

Status HadoopCatalog::AddNamespaces(const std::string& path, const std::vector<std::string>& space,
                                    std::vector<std::vector<std::string>>* found) const {
  if (space.size() == kDeepest) return Status();
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(path));
  for (const FileInfo& entry : entries) {
    const std::string name = NameOf(entry.path);
    if (!entry.is_directory || name.starts_with('.') || name.starts_with('_')) continue;
    ASSIGN_OR_RETURN(const bool is_table, IsTable(entry.path));
    // What DropTable left is no namespace either.
    ASSIGN_OR_RETURN(const bool was_table, file_system_->Exists(entry.path + "/metadata"));
    if (is_table || was_table) continue;
    std::vector<std::string> inner = space;
    inner.push_back(name);
    found->push_back(inner);
    RETURN_IF_ERROR(AddNamespaces(entry.path, inner, found));
  }
  return Status();
}

Result<std::vector<std::vector<std::string>>> HadoopCatalog::ListNamespaces() {
  std::vector<std::vector<std::string>> found;
  ASSIGN_OR_RETURN(const std::string path, PathOf(warehouse_));
  RETURN_IF_ERROR(AddNamespaces(path, {}, &found));
  return found;
}

Result<std::vector<std::string>> HadoopCatalog::ListTables(const std::vector<std::string>& space) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(LocationOf(space)));
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(path));
  std::vector<std::string> tables;
  for (const FileInfo& entry : entries) {
    if (!entry.is_directory) continue;
    ASSIGN_OR_RETURN(const bool is_table, IsTable(entry.path));
    if (is_table) tables.push_back(NameOf(entry.path));
  }
  return tables;
}

Result<std::optional<std::string>> HadoopCatalog::FileOf(const std::string& folder, int version) const {
  for (const std::string_view ending : kEndings) {
    std::string location = fmt::format("{}/v{}{}", folder, version, ending);
    ASSIGN_OR_RETURN(const std::string path, PathOf(location));
    ASSIGN_OR_RETURN(const bool there, file_system_->Exists(path));
    if (there) return std::optional(std::move(location));
  }
  return std::optional<std::string>();
}

Result<std::optional<HadoopCatalog::Version>> HadoopCatalog::FindVersion(const std::string& location) const {
  const std::string folder = location + "/metadata";
  ASSIGN_OR_RETURN(const std::string path, PathOf(folder));
  std::optional<Version> newest;
  const Result<std::string> hint = file_system_->ReadAll(fmt::format("{}/{}", path, kHint));
  int number = 0;
  if (hint.ok()) std::from_chars(hint->data(), hint->data() + hint->size(), number);
  if (number > 0) {
    ASSIGN_OR_RETURN(const std::optional<std::string> file, FileOf(folder, number));
    if (file) newest = Version{number, *file};
  }
  if (!newest) {  // no hint, or one to a version that is gone
    ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(path));
    for (const FileInfo& entry : entries) {
      const std::string name = NameOf(entry.path);
      const int version = MetadataVersion(name);
      if (IsVersionFile(name) && (!newest || version > newest->number))
        newest = Version{version, folder + "/" + name};
    }
  }
  while (newest) {  // whoever writes a version writes the hint behind it, or dies before
    ASSIGN_OR_RETURN(const std::optional<std::string> later, FileOf(folder, newest->number + 1));
    if (!later) break;
    newest = Version{newest->number + 1, *later};
  }
  return newest;
}

// A hint that is missing or old costs a look; so nothing depends on it, and its errors are nobody's.
void HadoopCatalog::WriteHint(const std::string& location, int version) const {
  const Result<std::string> path = PathOf(fmt::format("{}/metadata/{}", location, kHint));
  if (!path.ok()) return;
  const std::string written = fmt::format("{}.{}", *path, files_->NewUuid());
  const Result<bool> made = file_system_->CreateIfAbsent(written, std::to_string(version));
  if (!made.ok() || file_system_->Rename(written, *path).ok()) return;
  const Status ignored = file_system_->Remove(written);
  static_cast<void>(ignored.ok());
}

Result<LoadedTable> HadoopCatalog::CreateTable(const TableName& name, const NewTable& created) {
  RETURN_IF_ERROR(CheckName(name.name));
  ASSIGN_OR_RETURN(const std::string space, PathOf(LocationOf(name.space)));
  ASSIGN_OR_RETURN(const bool there, file_system_->Exists(space));
  if (!there) {
    return Status::User(fmt::format("there is no namespace '{}'", fmt::join(name.space, ".")))
        .Hint("create it first");
  }
  const std::string location = LocationOf(name);
  if (!created.location.empty() && created.location != location) {
    return Status::User(fmt::format("a table of this catalog is in its folder '{}'", location))
        .Hint("leave the location out");
  }
  ASSIGN_OR_RETURN(TableMetadata table, FirstMetadata(created, location, *files_));
  ASSIGN_OR_RETURN(const MetadataBytes packed, PackMetadata(table, table.properties));
  const std::string file = fmt::format("{}/metadata/v1{}", location, packed.ending);
  ASSIGN_OR_RETURN(const std::optional<Version> other, FindVersion(location));
  ASSIGN_OR_RETURN(const std::string path, PathOf(file));
  Result<bool> made = false;
  if (!other) {
    RETURN_IF_ERROR(file_system_->MakeDirectories(path.substr(0, path.rfind('/'))));
    made = file_system_->CreateIfAbsent(path, packed.bytes);
  }
  RETURN_IF_ERROR(made.status());
  if (!*made) return Status::User(fmt::format("the table '{}' is there already", name.ToString()));
  WriteHint(location, 1);
  return LoadedTable{file, std::move(table)};
}

Result<LoadedTable> HadoopCatalog::LoadTable(const TableName& name) {
  const std::string location = LocationOf(name);
  ASSIGN_OR_RETURN(const std::optional<Version> newest, FindVersion(location));
  if (!newest) {
    Status missing = NoTable(name, location);
    ASSIGN_OR_RETURN(const std::vector<std::string> others, ListTables(name.space));
    for (const std::string& other : others) {
      const bool same = std::equal(other.begin(), other.end(), name.name.begin(), name.name.end(),
                                   [](unsigned char a, unsigned char b) { return tolower(a) == tolower(b); });
      if (same) {
        return std::move(missing).Hint(
            fmt::format("'{}' differs by case alone; names are taken as they are", other));
      }
    }
    return missing;
  }
  return ReadTable(newest->location);
}

Result<LoadedTable> HadoopCatalog::ReadTable(const std::string& location) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(location));
  ASSIGN_OR_RETURN(const FileInfo file, file_system_->Stat(path));
  const bool same = file.identity != 0 && file.identity == last_file_.identity &&
                    file.device == last_file_.device && file.size == last_file_.size &&
                    file.modified_micros == last_file_.modified_micros;
  if (same && location == last_.metadata_location) return last_;
  LoadedTable table{location, {}};
  ASSIGN_OR_RETURN(table.metadata, files_->ReadMetadata(location));
  Remember(file, table);
  return table;
}

void HadoopCatalog::Remember(const FileInfo& file, const LoadedTable& table) {
  last_ = table;
  last_file_ = file;
}

Status HadoopCatalog::DropTable(const TableName& name) {
  const std::string location = LocationOf(name);
  ASSIGN_OR_RETURN(const std::string folder, PathOf(location + "/metadata"));
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(folder));
  std::vector<std::pair<int, std::string>> versions;
  for (const FileInfo& entry : entries) {
    const std::string file = NameOf(entry.path);
    if (IsVersionFile(file)) versions.emplace_back(MetadataVersion(file), entry.path);
  }
  if (versions.empty()) return NoTable(name, location);
  // The newest one last, so that no older one is taken for it, whenever this ends.
  std::ranges::sort(versions);
  RETURN_IF_ERROR(file_system_->Remove(fmt::format("{}/{}", folder, kHint)));
  for (const auto& [_, path] : versions) RETURN_IF_ERROR(file_system_->Remove(path));
  return Status();
}

Status HadoopCatalog::DropNamespace(const std::vector<std::string>& space) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(LocationOf(space)));
  ASSIGN_OR_RETURN(const bool there, file_system_->Exists(path));
  if (!there) return Status::User(fmt::format("there is no namespace '{}'", fmt::join(space, ".")));
  ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(path));
  const bool is_store = PendingFilesAt(file_system_, path) != nullptr;
  if (entries.empty()) return file_system_->Remove(is_store ? path + "/" : path);
  return Status::User(fmt::format("the namespace '{}' is not empty", fmt::join(space, ".")))
      .Hint(fmt::format("'{}' holds tables, or files of tables that were dropped", path));
}

CommitAnswer HadoopCatalog::Commit(const TableName& name, const TableCommit& commit) {
  const auto refused = [](Status status) {
    return CommitAnswer{CommitOutcome::kRefused, std::move(status), {}};
  };
  Result<LoadedTable> base = LoadTable(name);
  if (!base.ok()) return refused(base.status());
  Result<TableMetadata> table = NextMetadata(*base, commit, files_->env()->NowMillis());
  if (!table.ok()) return refused(table.status());
  // Who writes this version has read the one before: all of them give it one name, also while the codec
  // changes.
  const Result<MetadataBytes> packed = PackMetadata(*table, base->metadata.properties);
  if (!packed.ok()) return refused(packed.status());
  const int version = MetadataVersion(base->metadata_location) + 1;
  const std::string location = LocationOf(name);
  const std::string file = fmt::format("{}/metadata/v{}{}", location, version, packed->ending);
  const Result<std::string> path = PathOf(file);
  if (!path.ok()) return refused(path.status());
  const Result<bool> made = file_system_->CreateIfAbsent(*path, packed->bytes);
  if (!made.ok()) return {CommitOutcome::kUnknown, made.status(), {}};
  if (!*made) {
    return refused(
        Status::External(fmt::format("the table '{}' was changed by another writer", name.ToString()),
                         Retry::kBackoff)
            .Hint("the commit is rebuilt and tried again"));
  }
  WriteHint(location, version);
  LoadedTable now{file, *std::move(table)};
  const Result<FileInfo> written = file_system_->Stat(*path);
  if (written.ok()) Remember(*written, now);
  return {CommitOutcome::kDone, {}, std::move(now)};
}

}  // namespace caudal::iceberg
