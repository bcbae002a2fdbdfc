// What a commit asks of a table (requirements) and does to it (updates), as plain data, in the words of the
// REST catalog; and both applied to a TableMetadata, as every catalog must that has no server to do it.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

struct AssertTableUuid {
  std::string uuid;
};
struct AssertRefSnapshotId {
  std::string ref;
  std::optional<int64_t> snapshot_id;  // nothing: there is no such ref
};
struct AssertCurrentSchemaId {
  int32_t schema_id = 0;
};
struct AssertDefaultSpecId {
  int32_t spec_id = 0;
};
using TableRequirement =
    std::variant<AssertTableUuid, AssertRefSnapshotId, AssertCurrentSchemaId, AssertDefaultSpecId>;

struct AddSnapshot {
  Snapshot snapshot;
};
struct SetSnapshotRef {
  std::string name;
  SnapshotRef ref;
};
struct SetProperties {
  std::map<std::string, std::string> properties;
};
struct RemoveProperties {
  std::vector<std::string> names;
};
struct AddSchema {  // made the current one; none that the table has is equal to it
  Schema schema;
  int32_t last_column_id = 0;  // that the table has ever given
};
struct SetCurrentSchema {
  int32_t schema_id = 0;
};
struct RemoveSnapshotRef {  // OK if there is none
  std::string name;
};
struct RemoveSnapshots {  // with their statistics; OK for one that is not there
  std::vector<int64_t> ids;
};
using TableUpdate = std::variant<AddSnapshot, SetSnapshotRef, SetProperties, RemoveProperties, AddSchema,
                                 SetCurrentSchema, RemoveSnapshotRef, RemoveSnapshots>;

struct TableCommit {
  std::vector<TableRequirement> requirements;
  std::vector<TableUpdate> updates;
};

// OK if all hold. External (backoff) that says which does not: somebody else was quicker, load the table and
// try again; User if the table is another one (its uuid changed), where trying again cannot help.
Status CheckRequirements(const TableMetadata& table, const std::vector<TableRequirement>& requirements);

// The table afterwards. `now_ms` is the wall clock; times in the table never go back, whatever it says.
// External (backoff) for a snapshot whose numbers another commit has taken; Internal for an update that must
// not be (a snapshot twice, a ref to none, one
// removed that a ref is at: External, since somebody may have made that ref meanwhile).
Result<TableMetadata> ApplyUpdates(TableMetadata table, const std::vector<TableUpdate>& updates,
                                   int64_t now_ms);

// The time of a new snapshot of this table: now, but later than everything before it.
int64_t NextTimestamp(const TableMetadata& table, int64_t now_ms);

}  // namespace caudal::iceberg
