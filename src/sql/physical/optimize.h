// The planner: from the nodes that the binder made to the Plan that run/ instantiates.
#pragma once

#include <string>

#include "api/catalog.h"
#include "api/plan.h"
#include "base/status.h"
#include "sql/physical/draft.h"

namespace caudal::sql {

// Applies the rules in order: Calcs merged, columns pruned, changelogs inferred, hidden columns added,
// exchanges placed, ids assigned. `query` names the plan; settings come from the catalog. User error where
// the plan cannot run.
Result<Plan> Optimize(Draft draft, std::string query, const Catalog& catalog, bool batch, const FailAt& fail);

}  // namespace caudal::sql
