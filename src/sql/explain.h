// EXPLAIN: a Plan as text.
#pragma once

#include <string>

#include "api/plan.h"

namespace caudal::sql {

// A tree for each sink, operators from the sink down, one a line:
//   Sink(table=[silver], fields=[id, amount])
//   +- Calc(select=[id, amount], where=[amount > 0])
//      +- Scan(table=[payments], fields=[id, amount])
// A node read twice is shown once and then by its number. `changelog` adds changelogMode=[I,UB,UA,D] to each.
std::string ExplainPlan(const Plan& plan, bool changelog);

// One node without its inputs.
std::string ExplainNode(const Plan& plan, int node, bool changelog);

}  // namespace caudal::sql
