// Partition specs and sort orders as JSON, which metadata files, manifests and catalogs' requests share.
//
// Pure functions; any thread. Faults go to `error` as JsonFields tells them.
#pragma once

#include <string>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

PartitionSpec SpecFromJson(const Json& json, const std::string& place, Status* error);
// The fields alone, as format 1 and manifests keep them. Format 1 may leave out their ids.
std::vector<PartitionField> SpecFieldsFromJson(const Json& json, const std::string& place, Status* error);
Json SpecToJson(const PartitionSpec& spec);
Json SpecFieldsToJson(const PartitionSpec& spec);
SortOrder SortOrderFromJson(const Json& json, const std::string& place, Status* error);
Json SortOrderToJson(const SortOrder& order);

}  // namespace caudal::iceberg
