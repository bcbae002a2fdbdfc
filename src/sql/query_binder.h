// QueryBinder: a Query of the syntax tree to nodes of the growing plan.
//
// Names are looked up in the WITH clauses around, then in the catalog; a view is parsed and bound anew at
// each use, and PlanBuilder gives equal nodes once. Everything is borrowed and outlives the binder. One
// thread.
#pragma once

#include <deque>
#include <string>

#include "api/catalog.h"
#include "base/status.h"
#include "sql/parse/ast_query.h"
#include "sql/parse/source_text.h"
#include "sql/physical/plan_builder.h"
#include "sql/scope.h"

namespace caudal::sql {

// A WITH table and those that it can see itself.
struct VisibleTable {
  const CommonTable* table;
  std::string owner;
  const VisibleTable* outer;
};

// Where in the script a query is bound.
struct BindContext {
  const SourceText* source = nullptr;
  std::string owner;  // view or sink: the front of operator ids
  const VisibleTable* tables = nullptr;
  int view_depth = 0;
  int depth = 0;                             // of views and WITH tables
  const CurrentDatabase* current = nullptr;  // of the view; null: the session's
};

class QueryBinder {
 public:
  // `batch`: ORDER BY and LIMIT are possible, aggregates emit at the end.
  QueryBinder(const Catalog* catalog, PlanBuilder* builder, bool batch)
      : catalog_(*catalog), builder_(*builder), batch_(batch) {}

  const Catalog& catalog() const { return catalog_; }
  PlanBuilder& builder() { return builder_; }
  bool batch() const { return batch_; }

  Result<Relation> Bind(const Query& query, const BindContext& context);
  Result<Relation> BindFrom(const TableReference& table, const BindContext& context);
  // A table, view or WITH table by its name.
  Result<Relation> BindName(const ObjectName& name, const std::vector<Option>& options,
                            const BindContext& context);
  // The table as a hint changes it: /*+ OPTIONS(…) */.
  Result<Table> WithOptions(const Table& table, const std::vector<Option>& options,
                            const BindContext& context) const;

 private:
  Result<Relation> BindBody(const Query& query, const BindContext& context);
  Result<Relation> BindValues(const Values& values, const BindContext& context);
  Result<Relation> BindUnion(const Union& node, const BindContext& context);
  Result<Relation> CastColumns(Relation relation, const std::vector<Type>& types, const BindContext& context,
                               SourceRange range);
  Result<Relation> BindTable(const Table& table, const ObjectName& name, const std::vector<Option>& options,
                             const BindContext& context);
  Result<Relation> BindView(const View& view, const ObjectName& name, const BindContext& context);
  Result<Relation> BindOrder(Relation relation, const Query& query, const BindContext& context);
  // One more view or WITH table is about to be bound in its place.
  Status CheckExpansion(const ObjectName& name, const BindContext& context);
  Status Rename(Relation& relation, const std::vector<Name>& names, const BindContext& context) const;

  const Catalog& catalog_;
  PlanBuilder& builder_;
  bool batch_;
  std::deque<VisibleTable> visible_;  // addresses stay
  std::deque<SourceText> views_;
  int expansions_ = 0;  // of views and WITH tables, each use counted
};

}  // namespace caudal::sql
