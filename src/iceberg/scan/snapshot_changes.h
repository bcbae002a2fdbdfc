// SnapshotChanges: which rows one snapshot took away from its parent, and which it added: for those who read
// a table as a changelog.
//
// Told by the snapshot's own manifests, by the deletes that it adds and by those that they add to; data files
// are not read. A pure function over the table's files; any thread; blocks.
#pragma once

#include <vector>

#include "base/status.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/deletes/position_set.h"
#include "iceberg/metadata/table_metadata.h"
#include "iceberg/scan/scan_plan.h"

namespace caudal::iceberg {

// Rows of one data file.
struct ChangedRows {
  LiveFile data;
  bool added = false;  // false: the rows went
  bool only = false;   // these positions are the rows; false: all rows of the file but these
  PositionSet positions;
};

struct SnapshotChanges {
  std::vector<ChangedRows> rows;  // those that went before those that came; the same order whenever asked
  bool both() const { return !rows.empty() && !rows.front().added && rows.back().added; }
};

// A row that the snapshot added and deleted at once is in neither. Data error if it brings deleted rows back;
// User error, which names the snapshot, if rows are deleted by their values, or if what its parent had has
// expired.
Result<SnapshotChanges> ReadChanges(const TableFiles& files, const TableMetadata& table,
                                    const Snapshot& snapshot);

}  // namespace caudal::iceberg
