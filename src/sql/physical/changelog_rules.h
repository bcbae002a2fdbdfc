// Rules of row kinds: which changes each node gives, whether its readers want -U, where a Materialize folds
// them.
#pragma once

#include "api/catalog.h"
#include "base/status.h"
#include "sql/physical/draft.h"

namespace caudal::sql {

// Fills in kinds, upsert keys, `retracting`, `update_before` and the row-time flags of TopN, and puts a
// Materialize before a sink whose key is no upsert key of what it gets. User error where a node or sink
// cannot take the changes that reach it, or an aggregate cannot take rows away. `rejects`: rows whose
// expressions fail are left out, to a dead-letter table, and the query goes on.
Result<Draft> InferChangelog(const Draft& draft, const Catalog& catalog, bool rejects, const FailAt& fail);

// Whether the column is PROCTIME(), perhaps of a table's computed column. REQUIRES: `nodes` has the node's
// inputs.
bool IsProcessingTime(const std::vector<PlanNode>& nodes, const PlanNode& node, int column);

}  // namespace caudal::sql
