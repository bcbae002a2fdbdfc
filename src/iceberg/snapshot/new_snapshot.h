// What every snapshot that is made needs: an id of its own, random markers for its files, and the numbers
// that the table's properties say of commits.
//
// Functions; any thread whose Env it is.
#pragma once

#include <cstdint>

#include "base/env.h"
#include "format/avro/container.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// Positive, and not yet in the table.
int64_t NewSnapshotId(const TableMetadata& table, Env* env);
avro::SyncMarker RandomMarker(Env* env);
// `fallback` if the table does not say it, or says what is no number.
int64_t NumberProperty(const TableMetadata& table, const char* name, int64_t fallback);

}  // namespace caudal::iceberg
