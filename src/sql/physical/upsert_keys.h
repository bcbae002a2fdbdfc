// Which sets of columns are unique in the folded output of a node.
#pragma once

#include <vector>

#include "api/plan.h"

namespace caudal::sql {

using UpsertKeys = std::vector<std::vector<int>>;

// From the node's kind and the keys of its inputs. REQUIRES: the nodes before it have theirs.
UpsertKeys FindUpsertKeys(const std::vector<PlanNode>& nodes, const PlanNode& node);

// Whether one of the keys lies within `columns`.
bool HasKeyWithin(const UpsertKeys& keys, const std::vector<int>& columns);

}  // namespace caudal::sql
