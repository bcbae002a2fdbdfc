// Scope: the columns that an expression may name, and the relation that they come from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/plan_node.h"
#include "data/schema.h"

namespace caudal::sql {

struct Scope {
  std::string qualifier;  // alias or name of the table; empty: columns have no qualifier
  Schema columns;
  // The tables joined to it: each by its name and the first of its columns, which stand behind one another.
  struct Joined {
    std::string qualifier;
    int first = 0;
  };
  std::vector<Joined> joined = {};

  // The columns [first, second) of the table of that name; nothing: there is none.
  std::optional<std::pair<int, int>> ColumnsOf(std::string_view table) const;
  // The column of that name in [first, last); -1: there is none, -2: there are several.
  static constexpr int kNone = -1, kSeveral = -2;
  int Find(std::string_view name, int first, int last) const;
  // "'o' and 'f'"; empty: no table has a name.
  std::string TableNames() const;
};

// Which columns of a relation are the bounds of windows that a window function assigned.
struct WindowColumns {
  int start = -1;
  int end = -1;
  int time = -1;
  WindowSpec spec;
  std::vector<int> partition = {};  // of a session: the columns whose rows it is made of
};

// A bound FROM: a node of the growing plan, whose columns are those of the scope, in order.
struct Relation {
  int node = -1;
  Scope scope;
  std::optional<WindowColumns> window;
};

}  // namespace caudal::sql
