// SchemaFit: what a table of the catalog lacks of the columns that rows bring: columns, wider types, NULL
// where it wants a value; and what is done about it, as 'caudal.schema-evolution' says.
//
// Pure functions but for EvolveTable, which blocks; any thread.
#pragma once

#include <string>
#include <vector>

#include "api/external_catalog.h"
#include "connect/iceberg/iceberg_lake.h"
#include "connect/iceberg/iceberg_options.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

// What would let rows of the declared columns in; what no change of a schema mends is not among it.
Result<std::vector<TableChange>> ChangesToFit(const Table& declared, const iceberg::TableMetadata& table);
// The same as a statement.
std::string AlterText(const IcebergOptions& options, const std::vector<TableChange>& changes);

// User error if the table lacks a column of the key, or has it with another type. What an epoch that waits
// was prepared for, or which row a deletion means, would be another key.
Status CheckKeyFits(const Table& declared, const iceberg::TableMetadata& table);

// The table as it would be. User error for a change that the format has no way to make.
Result<iceberg::TableMetadata> EvolvedTable(const Table& declared, const iceberg::TableMetadata& table,
                                            int64_t now_millis);
// Makes it so in the catalog, in one commit that asserts what it was made of, and again if somebody else
// changed the table meanwhile. Nothing is committed if nothing is lacking.
Result<iceberg::LoadedTable> EvolveTable(IcebergLake* lake, const Table& declared,
                                         const IcebergOptions& options, iceberg::LoadedTable table);

}  // namespace caudal
