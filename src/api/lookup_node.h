// LookupNode: the plan node of a lookup in a table outside. Plain data, by the rules of plan_node.h.
#pragma once

#include <vector>

#include "api/lookup.h"
#include "api/plan_node.h"
#include "api/table.h"
#include "expr/expr.h"

namespace caudal {

// JOIN … FOR SYSTEM_TIME AS OF a processing time: each row beside those that a table outside has for its key
// when it is asked. Output: the input's columns, then `columns`; hidden ones last.
struct LookupNode {
  struct Key {
    int column = 0;  // position in table.columns
    Expr value;      // over the input, of the column's type
  };
  Table table;
  std::vector<Key> keys;
  std::vector<int> columns;                  // positions in table.columns
  std::vector<CalcNode::Filter> conditions;  // what ON says beyond the keys, over input and `columns`
  bool keeps_unmatched = false;              // LEFT JOIN: a row that finds nothing goes on with NULLs
  bool unique = false;                       // the keys hold the table's primary key: one row at most

  // What the table is asked. Of what it answers any column may be NULL, whatever was declared.
  LookupRequest request() const {
    LookupRequest request;
    for (const Key& key : keys) request.keys.push_back(key.column);
    request.columns = columns;
    for (const int column : columns) {
      const TableColumn& source = table.columns[static_cast<size_t>(column)];
      request.schema.fields.push_back({source.name, source.type.WithNullable(true)});
    }
    return request;
  }
};

}  // namespace caudal
