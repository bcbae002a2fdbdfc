// Rule: a Scan is told what the filter above it asks of single columns, so that a connector can leave out
// what holds no such row. The filter stays, and decides alone.
#pragma once

#include "sql/physical/draft.h"

namespace caudal::sql {

// Only of Scans that nobody else reads, and not where the rows that are left out would move a clock.
// `settings`: of the session, whose time zone constants are cast in.
void FindScanFilters(Draft* draft, bool batch, const Options& settings);

}  // namespace caudal::sql
