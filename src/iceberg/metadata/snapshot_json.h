// Snapshots and refs as JSON, which metadata files and catalogs' requests share.
//
// Pure functions; any thread. Faults go to `error` as JsonFields tells them.
#pragma once

#include <string>

#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

Snapshot SnapshotFromJson(const Json& json, int32_t format_version, const std::string& place, Status* error);
Json SnapshotToJson(const Snapshot& snapshot);
SnapshotRef RefFromJson(const Json& json, const std::string& place, Status* error);
Json RefToJson(const SnapshotRef& ref);

// An object whose members are all strings (properties, a summary).
std::map<std::string, std::string> TextsFromJson(const Json& json, const std::string& place, Status* error);

}  // namespace caudal::iceberg
