// A table of an Iceberg catalog as SQL sees it: columns, key, partitions and properties out of its metadata.
//
// Pure functions; any thread.
#pragma once

#include "api/external_catalog.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

// Columns of types that cannot be read are left out.
ExternalTable TableOf(const iceberg::TableMetadata& metadata);
ExternalTable TableOfSchema(const iceberg::Schema& schema);

}  // namespace caudal
