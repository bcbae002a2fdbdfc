// Draft: a plan on its way through the rules. Plain data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/plan.h"
#include "base/status.h"

namespace caudal::sql {

struct Draft {
  std::vector<PlanNode> nodes;  // inputs before their readers
  std::vector<int> roots;       // the Sink nodes, or the one node whose rows are a SELECT's result
};

// Makes a User error that points at a position of the SQL text.
using FailAt = std::function<Status(const SqlPosition& position, std::string message)>;

// Which nodes a root reaches.
std::vector<bool> Reachable(const Draft& draft);
// How many inputs of reachable nodes (and roots) read each node.
std::vector<int> CountReaders(const Draft& draft);
// The draft without what no root reaches.
Draft RemoveUnused(const Draft& draft);

}  // namespace caudal::sql
