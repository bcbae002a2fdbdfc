#include "iceberg/commit/snapshot_summary.h"

#include <charconv>

namespace caudal::iceberg {
namespace {

// The total of the parent and what is added; nothing if the parent has none.
void AddTotal(const Snapshot* parent, const char* key, int64_t added,
              std::map<std::string, std::string>* summary) {
  int64_t total = 0;
  if (parent != nullptr) {
    const auto found = parent->summary.find(key);
    if (found == parent->summary.end()) return;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, total);
    if (error != std::errc() || stop != end) return;
  }
  (*summary)[key] = std::to_string(total + added);
}

}  // namespace

std::map<std::string, std::string> CommitSummary(const Snapshot* parent, const PreparedAppend& append,
                                                 const DeleteChanges& deletes, const RemovedData& removed) {
  std::map<std::string, std::string> summary = {{"engine-name", "caudal"}};
  const auto count = [&summary](const char* key, int64_t number) {
    if (number > 0) summary[key] = std::to_string(number);
  };
  std::set<std::string> partitions = append.partitions;
  partitions.insert(deletes.partitions.begin(), deletes.partitions.end());
  const bool takes = deletes.added.files > 0;
  summary["operation"] = !takes ? "append" : append.files == 0 ? "delete" : "overwrite";
  summary["changed-partition-count"] = std::to_string(partitions.size());
  summary["added-files-size"] = std::to_string(append.bytes + deletes.added.bytes);
  if (append.files > 0 || !takes) {
    summary["added-data-files"] = std::to_string(append.files);
    summary["added-records"] = std::to_string(append.records);
  }
  count("added-delete-files", deletes.added.files);
  count("added-dvs", deletes.added.vectors);
  count("added-position-delete-files", deletes.added.files - deletes.added.vectors);
  count("added-position-deletes", deletes.added.positions);
  count("removed-delete-files", deletes.removed.files);
  count("removed-dvs", deletes.removed.vectors);
  count("removed-position-delete-files", deletes.removed.files - deletes.removed.vectors);
  count("removed-position-deletes", deletes.removed.positions);
  count("removed-files-size", deletes.removed.bytes + removed.bytes);
  count("deleted-data-files", removed.files);
  count("deleted-records", removed.records);
  AddTotal(parent, "total-data-files", append.files - removed.files, &summary);
  AddTotal(parent, "total-records", append.records - removed.records, &summary);
  AddTotal(parent, "total-files-size",
           append.bytes - removed.bytes + deletes.added.bytes - deletes.removed.bytes, &summary);
  AddTotal(parent, "total-delete-files", deletes.added.files - deletes.removed.files, &summary);
  AddTotal(parent, "total-position-deletes", deletes.added.positions - deletes.removed.positions, &summary);
  AddTotal(parent, "total-equality-deletes", 0, &summary);
  return summary;
}

}  // namespace caudal::iceberg
