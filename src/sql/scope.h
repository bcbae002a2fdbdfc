// Scope: the columns that an expression may name, and the relation that they come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/plan_node.h"
#include "data/schema.h"

namespace caudal::sql {

struct Scope {
  std::string qualifier;  // alias or name of the table; empty: columns have no qualifier
  Schema columns;
};

// Which columns of a relation are the bounds of windows that a window function assigned.
struct WindowColumns {
  int start = -1;
  int end = -1;
  int time = -1;
  WindowSpec spec;
};

// A bound FROM: a node of the growing plan, whose columns are those of the scope, in order.
struct Relation {
  int node = -1;
  Scope scope;
  std::optional<WindowColumns> window;
};

}  // namespace caudal::sql
