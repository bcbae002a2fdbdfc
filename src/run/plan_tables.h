// The tables that a plan reads and writes: their connectors, their secrets, and whether a start would take
// them, asked without starting anything.
//
// Pure functions; any thread.
#pragma once

#include "api/plan.h"
#include "run/job_options.h"

namespace caudal {

// User error: no such connector is listed.
Result<const Connector*> FindConnector(const JobOptions& options, const Table& table);
// The table with its secrets, for the connector's eyes alone.
Result<Table> Revealed(Table table);

// What Job::Start would refuse of the plan's settings and tables, as these and their targets are now. Makes
// and changes nothing outside.
Status CheckTables(const Plan& plan, const JobOptions& options);

}  // namespace caudal
