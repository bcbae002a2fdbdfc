// The segments of connector 'jdbc' (docs/formats/jdbc-segment.md): what they say and how SQL applies them.
//
// Free functions; any thread that owns the database's connection.
#pragma once

#include "api/segment/segment_file.h"
#include "api/segment/segment_records.h"
#include "base/status.h"
#include "connect/jdbc/jdbc_target.h"
#include "db/sqlite.h"

namespace caudal {

SegmentForm JdbcSegmentForm(const JdbcTarget& target);

// Applies every record, inside the caller's transaction.
Status ApplySegment(SegmentRecords* records, const SegmentReference& reference, Sqlite* database);

}  // namespace caudal
