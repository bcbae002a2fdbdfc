#include "sql/lookup/lookup_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/scalar_function.h"
#include "sql/expression_binder.h"
#include "sql/physical/changelog_rules.h"
#include "sql/physical/substitute.h"
#include "sql/select_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

bool IsSameType(const Type& a, const Type& b) {
  if (a.is_string() || a.is_binary()) return a.is_string() == b.is_string() && a.is_binary() == b.is_binary();
  return a.EqualsIgnoringNullability(b);
}

bool HasColumnFrom(const Expr& expr, int first) {
  bool found = false;
  VisitColumns(expr, [&](const Expr& column) { found |= column.column >= first; });
  return found;
}

// The column of the table that the expression is, or is a cast of; -1: neither.
int ColumnOf(const Expr& expr, int first) {
  const bool cast = expr.kind == Expr::Kind::kCall && expr.name == "CAST" && !expr.args.empty();
  const Expr& inner = cast ? expr.args[0] : expr;
  return inner.kind == Expr::Kind::kColumn && inner.column >= first ? inner.column - first : -1;
}

bool Holds(const std::vector<LookupNode::Key>& keys, int column) {
  return std::ranges::find(keys, column, &LookupNode::Key::column) != keys.end();
}

}  // namespace

Result<Relation> LookupBinder::Bind(const Join& join) {
  RETURN_IF_ERROR(CheckTime(join.right));
  LookupNode lookup;
  ASSIGN_OR_RETURN(lookup.table, FindTable(join.right));
  lookup.keeps_unmatched = join.left;
  for (size_t i = 0; i < lookup.table.columns.size(); ++i) lookup.columns.push_back(static_cast<int>(i));
  ASSIGN_OR_RETURN(Scope scope, JoinScopes(join.right, lookup.table));
  RETURN_IF_ERROR(BindCondition(join, scope, &lookup));
  RETURN_IF_ERROR(CheckKeys(join, lookup));
  const std::vector<int>& primary = lookup.table.primary_key;
  lookup.unique = !primary.empty() &&
                  std::ranges::all_of(primary, [&](int column) { return Holds(lookup.keys, column); });
  Relation relation;
  relation.window = left_.window;
  relation.node = queries_.builder().AddLookup(context_.owner + "/lookup", left_.node, std::move(lookup),
                                               context_.source->Position(join.range));
  for (int i = left_columns(); join.left && i < scope.columns.size(); ++i) {
    Field& field = scope.columns.fields[static_cast<size_t>(i)];
    field.type = field.type.WithNullable(true);
  }
  relation.scope = std::move(scope);
  return relation;
}

// Only a column of the left side says at which moment each of its rows looks.
Status LookupBinder::CheckTime(const TableReference& table) const {
  ExpressionBinder binder(*context_.source, left_.scope);
  ASSIGN_OR_RETURN(const Expr time, binder.Bind(*table.system_time));
  const std::vector<PlanNode>& nodes = queries_.builder().nodes();
  const PlanNode& node = queries_.builder().node(left_.node);
  if (time.kind == Expr::Kind::kColumn && IsProcessingTime(nodes, node, time.column)) return Status();
  if (time.kind == Expr::Kind::kColumn && time.column == node.time_column) {
    return NotBuiltAt(*context_.source, table.system_time_range,
                      "FOR SYSTEM_TIME AS OF a row time (a join with versions of a table)")
        .Hint("with a processing time the table is asked for what it has when the row passes");
  }
  return ErrorAt(*context_.source, table.system_time->range,
                 "FOR SYSTEM_TIME AS OF needs a processing time of the rows in front of the JOIN")
      .Hint("declare a column in their table, proc_time AS PROCTIME(), and name it here");
}

Result<Table> LookupBinder::FindTable(const TableReference& reference) const {
  const NamedTable* named = std::get_if<NamedTable>(&reference.node);
  if (named == nullptr) {
    return ErrorAt(*context_.source, reference.range, "FOR SYSTEM_TIME AS OF needs a table, not a query");
  }
  ASSIGN_OR_RETURN(const std::string name,
                   TableName(named->name, queries_.catalog(), *context_.source, context_.current));
  const Table* found = queries_.catalog().FindTable(name);
  if (found == nullptr) {
    if (queries_.catalog().FindView(name) != nullptr) {
      return ErrorAt(*context_.source, named->name.range,
                     fmt::format("FOR SYSTEM_TIME AS OF needs a table, and '{}' is a view", name));
    }
    // Says what there is.
    return queries_.BindName(named->name, named->options, context_).status();
  }
  ASSIGN_OR_RETURN(Table table, queries_.WithOptions(*found, named->options, context_));
  const Connector* connector = queries_.catalog().FindConnector(table.option("connector"));
  if (connector == nullptr || !connector->can_look_up()) {
    std::string able;
    for (const Connector* each : queries_.catalog().connectors()) {
      if (each->can_look_up()) able += fmt::format("{}'{}'", able.empty() ? "" : " or ", each->name());
    }
    return ErrorAt(*context_.source, named->name.range,
                   fmt::format("table '{}' cannot be looked up in: connector '{}' answers no keys", name,
                               table.option("connector")))
        .Hint(fmt::format("a table of connector {} can", able));
  }
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kPhysical) continue;
    return NotBuiltAt(
               *context_.source, named->name.range,
               fmt::format("a lookup in a table with a computed or metadata column ('{}')", column.name))
        .Hint("declare the table again without it, and compute it in the SELECT");
  }
  return table;
}

Result<Scope> LookupBinder::JoinScopes(const TableReference& right, const Table& table) const {
  Scope scope = left_.scope;
  const std::string name =
      right.alias ? right.alias->text : std::get<NamedTable>(right.node).name.parts.back().text;
  if (scope.ColumnsOf(name)) {
    return ErrorAt(*context_.source, right.alias ? right.alias->range : right.range,
                   fmt::format("two tables of the FROM are called '{}'", name))
        .Hint("give one of them another name: JOIN table FOR SYSTEM_TIME AS OF … AS other");
  }
  scope.joined.push_back({name, left_columns()});
  if (!right.column_aliases.empty() && right.column_aliases.size() != table.columns.size()) {
    return ErrorAt(*context_.source, right.range,
                   fmt::format("{} names for {} columns", right.column_aliases.size(), table.columns.size()));
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& column =
        right.column_aliases.empty() ? table.columns[i].name : right.column_aliases[i].text;
    scope.columns.fields.push_back({column, table.columns[i].type});
  }
  return scope;
}

Status LookupBinder::BindCondition(const Join& join, const Scope& scope, LookupNode* lookup) {
  wanted_ = queries_.catalog().FindConnector(lookup->table.option("connector"))->lookup_key(lookup->table);
  ExpressionBinder binder(*context_.source, scope);
  std::vector<Expr> conditions, tested;
  RETURN_IF_ERROR(binder.BindConjuncts(*join.condition, "ON", &conditions));
  for (Expr& condition : conditions) {
    ASSIGN_OR_RETURN(const bool taken, TakeKey(condition, lookup));
    if (!taken) tested.push_back(std::move(condition));
  }
  lookup->conditions = NameFilters(std::move(tested));
  return Status();
}

// column = value, either way round, where the value is known before the table is asked. A value of a narrower
// type is cast to the column's; the column itself cannot be.
Result<bool> LookupBinder::TakeKey(const Expr& condition, LookupNode* lookup) {
  if (condition.kind != Expr::Kind::kCall || condition.name != "=" || condition.args.size() != 2)
    return false;
  const int first = left_columns();
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const Expr& value = condition.args[1 - side];
    const int column = ColumnOf(condition.args[side], first);
    if (column < 0 || HasColumnFrom(value, first)) continue;
    const bool may = wanted_.empty() || std::ranges::find(wanted_, column) != wanted_.end();
    if (!may || Holds(lookup->keys, column)) return false;
    const TableColumn& of = lookup->table.columns[static_cast<size_t>(column)];
    const Type pair[] = {value.type, of.type};
    const Result<Type> common = CommonType(pair);
    const bool same = IsSameType(value.type, of.type);
    if (condition.args[side].kind != Expr::Kind::kColumn ||
        (!same && (!common.ok() || !common->EqualsIgnoringNullability(of.type)))) {
      other_type_ =
          fmt::format("'{}' is {}, and it is compared with {}", of.name,
                      of.type.WithNullable(true).ToString(), value.type.WithNullable(true).ToString());
      return false;
    }
    Expr key = value;
    if (!same) {
      ASSIGN_OR_RETURN(
          key, BindCast(std::move(key), of.type.WithNullable(value.type.nullable()), false, value.position));
    }
    lookup->keys.push_back({column, std::move(key)});
    return true;
  }
  return false;
}

Status LookupBinder::CheckKeys(const Join& join, const LookupNode& lookup) const {
  const std::string hint = other_type_.empty()
                               ? "write ON f.column = o.value, with AND between several"
                               : other_type_ +
                                     ": cast the value to the column's type, and compare the "
                                     "column cast to the value's type as well, since a number "
                                     "that does not fit wraps round";
  for (const int column : wanted_) {
    if (Holds(lookup.keys, column)) continue;
    return ErrorAt(*context_.source, join.condition->range,
                   fmt::format(
                       "a lookup in table '{}' needs a value for each column of its key, and '{}' has none",
                       lookup.table.name, lookup.table.columns[static_cast<size_t>(column)].name))
        .Hint(hint);
  }
  if (!lookup.keys.empty()) return Status();
  return ErrorAt(*context_.source, join.condition->range,
                 fmt::format("a lookup in table '{}' needs an equality that gives one of its columns a value",
                             lookup.table.name))
      .Hint(hint);
}

}  // namespace caudal::sql
