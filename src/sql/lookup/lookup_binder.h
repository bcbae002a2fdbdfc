// LookupBinder: [LEFT] JOIN table FOR SYSTEM_TIME AS OF <processing time> ON …, to a Lookup behind the rows
// bound so far.
//
// Made for one join and thrown away. What ON says is divided: equalities that give a column of the table its
// value are the key that is asked for, the rest is tested on what is found. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "sql/query_binder.h"

namespace caudal::sql {

class LookupBinder {
 public:
  // `left`: what stands in front of the join.
  LookupBinder(QueryBinder& queries, const BindContext& context, Relation left)
      : queries_(queries), context_(context), left_(std::move(left)) {}

  Result<Relation> Bind(const Join& join);

 private:
  Status CheckTime(const TableReference& table) const;
  Result<Table> FindTable(const TableReference& table) const;
  Result<Scope> JoinScopes(const TableReference& right, const Table& table) const;
  Status BindCondition(const Join& join, const Scope& scope, LookupNode* lookup);
  Result<bool> TakeKey(const Expr& condition, LookupNode* lookup);
  Status CheckKeys(const Join& join, const LookupNode& lookup) const;
  int left_columns() const { return left_.scope.columns.size(); }

  QueryBinder& queries_;
  const BindContext& context_;
  Relation left_;
  std::vector<int> wanted_;  // columns of the table that must be in the key; empty: any will do
  std::string other_type_;   // why an equality is no key: "'id' is INT, compared with BIGINT"
};

}  // namespace caudal::sql
