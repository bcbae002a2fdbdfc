#include "iceberg/snapshot/manifest_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "iceberg/manifest/manifest_reader.h"
#include "iceberg/manifest/manifest_schema.h"
#include "iceberg/manifest/manifest_writer.h"
#include "iceberg/manifest/partition_key.h"
#include "iceberg/snapshot/new_snapshot.h"

namespace caudal::iceberg {
namespace {

// What one commit reads and writes again at most. Larger ones are left to 'table rewrite-manifests'.
constexpr int64_t kMostBytes = int64_t{1} << 20;
constexpr size_t kMostManifests = 50;
constexpr int64_t kDefaultTarget = int64_t{8} << 20;
constexpr int64_t kDefaultMinCount = 100;

// Of about the same number of live files: up to 9, 99, 999, …
int ClassOf(const ManifestFile& manifest) {
  int digits = 1;
  for (int64_t files = int64_t{manifest.added_files_count} + manifest.existing_files_count; files >= 10;
       files /= 10)
    ++digits;
  return digits;
}

using Numbers = std::vector<size_t>;
using Classes = std::map<int, Numbers>;

// As many of the oldest, which are listed last, as one commit may take.
Numbers Oldest(const Numbers& members, const std::vector<ManifestFile>& listed) {
  Numbers taken;
  int64_t bytes = 0;
  for (auto at = members.rbegin(); at != members.rend() && taken.size() < kMostManifests; ++at) {
    bytes += listed[*at].manifest_length;
    if (bytes > kMostBytes) break;
    taken.push_back(*at);
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

Status AddLiveEntries(const TableFiles& files, const ManifestFile& manifest,
                      std::vector<std::pair<std::string, ManifestEntry>>* entries) {
  ASSIGN_OR_RETURN(const std::string text, files.Read(manifest.manifest_path));
  if (static_cast<int64_t>(text.size()) != manifest.manifest_length) {
    return Status::Data(fmt::format("manifest '{}' has {} bytes, in the list {}", manifest.manifest_path,
                                    text.size(), manifest.manifest_length));
  }
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(text, manifest));
  int64_t live = 0;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
    if (!entry) break;
    if (entry->status == EntryStatus::kDeleted) continue;
    entry->status = EntryStatus::kExisting;
    std::string key = PartitionKey(0, entry->file.partition);
    entries->emplace_back(std::move(key), std::move(*entry));
    ++live;
  }
  const int64_t listed = int64_t{manifest.added_files_count} + manifest.existing_files_count;
  // Before format 2 nobody had to count.
  if (manifest.sequence_number.value_or(0) == 0 || live == listed) return Status();
  return Status::Data(
      fmt::format("manifest '{}' has {} live files, in the list {}", manifest.manifest_path, live, listed));
}

}  // namespace

bool IsWritable(const TableMetadata& table, int32_t spec_id) {
  const PartitionSpec* spec = table.FindSpec(spec_id);
  return spec != nullptr && PartitionTypes(*table.FindSchema(table.current_schema_id), *spec).ok();
}

std::vector<size_t> PlanMerge(const TableMetadata& table, const std::vector<ManifestFile>& listed) {
  const auto enabled = table.properties.find("commit.manifest-merge.enabled");
  if (enabled != table.properties.end() && enabled->second == "false") return {};
  const int64_t least = NumberProperty(table, "commit.manifest.min-count-to-merge", kDefaultMinCount);
  if (static_cast<int64_t>(listed.size()) < least) return {};
  const int64_t large =
      std::min(kMostBytes, NumberProperty(table, "commit.manifest.target-size-bytes", kDefaultTarget)) / 2;
  std::map<std::pair<ManifestContent, int32_t>, std::pair<int64_t, Classes>> groups;
  for (size_t i = 0; i < listed.size(); ++i) {
    const ManifestFile& manifest = listed[i];
    if (manifest.manifest_length >= large) continue;
    auto& [count, classes] = groups[{manifest.content, manifest.partition_spec_id}];
    ++count;
    // One without a number is the commit's own.
    if (manifest.sequence_number && manifest.has_live_files()) classes[ClassOf(manifest)].push_back(i);
  }
  for (const auto& [key, group] : groups) {
    if (group.first < least || !IsWritable(table, key.second)) continue;
    const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
    const auto most = std::max_element(group.second.begin(), group.second.end(), fewer);
    if (most == group.second.end()) continue;
    Numbers taken = Oldest(most->second, listed);
    if (taken.size() > 1) return taken;
  }
  return {};
}

Status JoinManifests(const std::vector<ManifestFile>& group, int64_t parts, JoinTarget* target,
                     std::vector<ManifestFile>* joined) {
  const TableMetadata& table = *target->table;
  std::vector<std::pair<std::string, ManifestEntry>> entries;  // by partition
  for (const ManifestFile& manifest : group)
    RETURN_IF_ERROR(AddLiveEntries(*target->files, manifest, &entries));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto count = static_cast<int64_t>(entries.size());
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t first = count * part / parts, last = count * (part + 1) / parts;
    if (first == last) continue;
    ManifestWriter::Options how{.format_version = table.format_version, .content = group[0].content};
    how.sync = RandomMarker(target->files->env());
    ASSIGN_OR_RETURN(ManifestWriter writer,
                     ManifestWriter::Make(*table.FindSchema(table.current_schema_id),
                                          *table.FindSpec(group[0].partition_spec_id), how));
    for (int64_t i = first; i < last; ++i)
      RETURN_IF_ERROR(writer.Add(entries[static_cast<size_t>(i)].second));
    ASSIGN_OR_RETURN(ManifestWriter::Written made, writer.Finish());
    made.manifest.manifest_path =
        fmt::format("{}/{}-m{}.avro", MetadataFolder(table), target->name, target->next++);
    RETURN_IF_ERROR(target->files->Write(made.manifest.manifest_path, made.bytes));
    target->written->push_back(made.manifest.manifest_path);
    joined->push_back(std::move(made.manifest));
  }
  return Status();
}

}  // namespace caudal::iceberg
