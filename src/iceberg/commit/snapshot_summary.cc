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

std::map<std::string, std::string> AppendSummary(const Snapshot* parent, const PreparedAppend& append) {
  std::map<std::string, std::string> summary = {
      {"operation", "append"},
      {"added-data-files", std::to_string(append.files)},
      {"added-records", std::to_string(append.records)},
      {"added-files-size", std::to_string(append.bytes)},
      {"changed-partition-count", std::to_string(append.partitions.size())},
      {"engine-name", "caudal"}};
  AddTotal(parent, "total-data-files", append.files, &summary);
  AddTotal(parent, "total-records", append.records, &summary);
  AddTotal(parent, "total-files-size", append.bytes, &summary);
  AddTotal(parent, "total-delete-files", 0, &summary);
  AddTotal(parent, "total-position-deletes", 0, &summary);
  AddTotal(parent, "total-equality-deletes", 0, &summary);
  return summary;
}

}  // namespace caudal::iceberg
