#include "iceberg/metadata/statistics_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_document.h"

namespace caudal::iceberg {
namespace {

constexpr const char* kOfColumns = "statistics";
constexpr const char* kOfPartitions = "partition-statistics";

bool NamesStatistics(const std::string& member) { return member == kOfColumns || member == kOfPartitions; }

}  // namespace

Result<std::vector<StatisticsFile>> StatisticsFilesOf(const TableMetadata& table) {
  std::vector<StatisticsFile> found;
  for (const auto& [name, text] : table.unknown) {
    if (!NamesStatistics(name)) continue;
    ASSIGN_OR_RETURN(const Json list, ParseJsonDocument(text));
    if (!list.is_array()) return Status::Data(fmt::format("'{}' is no list", name));
    for (size_t i = 0; i < list.size(); ++i) {
      Status error;
      JsonFields fields(list[i], fmt::format("{}[{}]", name, i), &error);
      found.push_back({.snapshot_id = fields.Integer("snapshot-id"),
                       .path = fields.Text("statistics-path"),
                       .size = fields.Integer("file-size-in-bytes"),
                       .of_partitions = name == kOfPartitions});
      RETURN_IF_ERROR(error);
    }
  }
  return found;
}

void ForgetStatistics(const std::set<int64_t>& snapshots, TableMetadata* table) {
  for (auto& [name, text] : table->unknown) {
    if (!NamesStatistics(name)) continue;
    Json kept = Json::array();
    const Json list = Json::parse(text, nullptr, false);
    for (const Json& one : list) {
      if (!snapshots.contains(one.at("snapshot-id").get<int64_t>())) kept.push_back(one);
    }
    if (kept.size() != list.size()) text = kept.dump();
  }
}

}  // namespace caudal::iceberg
