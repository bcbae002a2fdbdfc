// Metadata tables: what a table's metadata says of it, as rows: "orders$snapshots", "…$history", "…$files",
// "…$manifests", "…$partitions", "…$refs".
//
// Values, and functions that read the table's files; block.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/value.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

enum class MetadataKind : uint8_t { kSnapshots, kHistory, kFiles, kManifests, kPartitions, kRefs };

// What stands behind the last '$' of a table's name, which is cut off; nothing, and the name as it is, if
// that is no metadata table.
std::optional<MetadataKind> TakeMetadataKind(std::string* table_name);

struct MetadataTable {
  iceberg::Schema schema;                // ids count the columns from 1
  std::vector<std::vector<Value>> rows;  // one value a column
};
// `snapshot`: of files, manifests and partitions; null: the table has no rows.
Result<MetadataTable> ReadMetadataTable(const iceberg::TableFiles& files, const iceberg::TableMetadata& table,
                                        const iceberg::Snapshot* snapshot, MetadataKind kind);
// Its columns alone.
iceberg::Schema MetadataSchema(MetadataKind kind);

}  // namespace caudal
