#include "sql/query_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/scalar_function.h"
#include "sql/expression_binder.h"
#include "sql/lookup/time_travel.h"
#include "sql/parse/name_parser.h"
#include "sql/parse/parser.h"
#include "sql/select_binder.h"
#include "sql/table_function_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

constexpr int kMaxViewDepth = 32;
constexpr int kMaxDepth = 200;
constexpr size_t kMaxValuesRows = UINT16_MAX;
constexpr int kMaxExpansions = 10'000;  // a view that names another twice, and so on, doubles with each level

}  // namespace

Result<Relation> QueryBinder::Bind(const Query& query, const BindContext& context) {
  BindContext inner = context;
  for (const CommonTable& table : query.with) {
    for (const VisibleTable* other = inner.tables; other != context.tables; other = other->outer) {
      if (other->table->name.text == table.name.text) {
        return ErrorAt(*context.source, table.name.range,
                       fmt::format("WITH has two tables '{}'", table.name.text));
      }
    }
    visible_.push_back({&table, context.owner + "." + table.name.text, inner.tables});
    inner.tables = &visible_.back();
  }
  ASSIGN_OR_RETURN(Relation relation, BindBody(query, inner));
  if (query.order_by.empty() && !query.limit && !query.offset) return relation;
  return BindOrder(std::move(relation), query, inner);
}

Result<Relation> QueryBinder::BindBody(const Query& query, const BindContext& context) {
  if (const Select* select = std::get_if<Select>(&query.body))
    return SelectBinder(*this, *select, context, query.order_by).Bind();
  if (const Values* values = std::get_if<Values>(&query.body)) return BindValues(*values, context);
  if (const Union* node = std::get_if<Union>(&query.body)) return BindUnion(*node, context);
  return Bind(*std::get<QueryPtr>(query.body), context);
}

Result<Relation> QueryBinder::BindValues(const Values& values, const BindContext& context) {
  if (values.rows.size() > kMaxValuesRows) {
    return ErrorAt(*context.source, values.range,
                   fmt::format("VALUES has {} rows, more than {}", values.rows.size(), kMaxValuesRows))
        .Hint("put them in a file and read it with the filesystem connector");
  }
  const Scope empty;
  ExpressionBinder binder(*context.source, empty);
  std::vector<std::vector<Expr>> rows;
  for (const ExpressionList& row : values.rows) {
    std::vector<Expr> exprs;
    for (const ExpressionPtr& field : row) {
      ASSIGN_OR_RETURN(Expr expr, binder.Bind(*field));
      exprs.push_back(std::move(expr));
    }
    rows.push_back(std::move(exprs));
  }
  PlanNode node;
  node.id = context.owner + "/values";
  node.position = context.source->Position(values.range);
  for (size_t i = 0; i < rows.front().size(); ++i) {
    std::vector<Type> types;
    for (const std::vector<Expr>& row : rows) types.push_back(row[i].type);
    Result<Type> common = CommonType(types);
    if (!common.ok()) return std::move(common).status().At(context.source->Frame(values.range));
    for (std::vector<Expr>& row : rows) {
      Type target = common->WithNullable(row[i].type.nullable());
      ASSIGN_OR_RETURN(row[i], BindCast(std::move(row[i]), target));
    }
    node.schema.fields.push_back({fmt::format("EXPR${}", i), *common});
  }
  node.payload = ValuesNode{std::move(rows)};
  Relation relation;
  relation.scope.columns = node.schema;
  relation.node = builder_.Add(std::move(node));
  return relation;
}

Result<Relation> QueryBinder::BindUnion(const Union& node, const BindContext& context) {
  ASSIGN_OR_RETURN(Relation left, Bind(*node.left, context));
  ASSIGN_OR_RETURN(Relation right, Bind(*node.right, context));
  if (left.scope.columns.size() != right.scope.columns.size()) {
    return ErrorAt(*context.source, node.range,
                   fmt::format("the sides of UNION have {} and {} columns", left.scope.columns.size(),
                               right.scope.columns.size()));
  }
  std::vector<Type> types;
  for (int i = 0; i < left.scope.columns.size(); ++i) {
    const Type pair[] = {left.scope.columns[i].type, right.scope.columns[i].type};
    Result<Type> common = CommonType(pair);
    if (!common.ok()) {
      return ErrorAt(*context.source, node.range,
                     fmt::format("column {} of UNION is {} on the left and {} on the right", i + 1,
                                 pair[0].ToString(), pair[1].ToString()));
    }
    types.push_back(*common);
  }
  const Schema names = left.scope.columns;
  ASSIGN_OR_RETURN(left, CastColumns(std::move(left), types, context, node.range));
  ASSIGN_OR_RETURN(right, CastColumns(std::move(right), types, context, node.range));
  const SqlPosition position = context.source->Position(node.range);
  Relation relation;
  relation.node = builder_.AddUnion(context.owner + "/union", {left.node, right.node}, position);
  if (!node.all) {
    AggregateNode distinct;
    for (int i = 0; i < names.size(); ++i) distinct.keys.push_back(i);
    distinct.emit = batch_ ? AggregateNode::Emit::kOnEnd : AggregateNode::Emit::kOnChange;
    relation.node =
        builder_.AddAggregate(context.owner + "/union", relation.node, std::move(distinct), {}, position);
  }
  relation.scope.columns = builder_.node(relation.node).schema;
  for (int i = 0; i < names.size(); ++i)
    relation.scope.columns.fields[static_cast<size_t>(i)].name = names[i].name;
  return relation;
}

// The relation with its columns cast to `types`, unless they are so already.
Result<Relation> QueryBinder::CastColumns(Relation relation, const std::vector<Type>& types,
                                          const BindContext& context, SourceRange range) {
  std::vector<Projection> projections;
  bool same = true;
  for (size_t i = 0; i < types.size(); ++i) {
    const Field& field = relation.scope.columns[static_cast<int>(i)];
    Expr column = Expr::Column(static_cast<int>(i), field.name, field.type);
    same &= field.type.EqualsIgnoringNullability(types[i]);
    ASSIGN_OR_RETURN(Expr cast, BindCast(std::move(column), types[i].WithNullable(field.type.nullable())));
    projections.push_back({std::move(cast), field.name});
  }
  if (same) return relation;
  relation.node = builder_.AddCalc(context.owner + "/calc", relation.node, {}, std::move(projections),
                                   context.source->Position(range));
  return relation;
}

Result<Relation> QueryBinder::BindFrom(const TableReference& table, const BindContext& context) {
  Relation relation;
  std::optional<Option> moment;
  if (table.system_time) {
    ASSIGN_OR_RETURN(moment, MomentOf(table, catalog_, context));
  }
  if (const NamedTable* named = std::get_if<NamedTable>(&table.node)) {
    std::vector<Option> options = named->options;
    if (moment) options.push_back(*moment);
    ASSIGN_OR_RETURN(relation, BindName(named->name, options, context));
    relation.scope.qualifier = named->name.parts.back().text;
  } else if (const DerivedTable* derived = std::get_if<DerivedTable>(&table.node)) {
    ASSIGN_OR_RETURN(relation, Bind(*derived->query, context));
    relation.scope.qualifier.clear();
  } else {
    ASSIGN_OR_RETURN(relation, BindTableFunction(*this, std::get<TableFunction>(table.node), context));
    relation.scope.qualifier.clear();
  }
  if (table.alias) relation.scope.qualifier = table.alias->text;
  RETURN_IF_ERROR(Rename(relation, table.column_aliases, context));
  return relation;
}

Status QueryBinder::Rename(Relation& relation, const std::vector<Name>& names,
                           const BindContext& context) const {
  if (names.empty()) return Status();
  if (static_cast<int>(names.size()) != relation.scope.columns.size()) {
    return ErrorAt(*context.source, Cover(names.front().range, names.back().range),
                   fmt::format("{} names for {} columns", names.size(), relation.scope.columns.size()));
  }
  for (size_t i = 0; i < names.size(); ++i) relation.scope.columns.fields[i].name = names[i].text;
  return Status();
}

Result<Relation> QueryBinder::BindName(const ObjectName& name, const std::vector<Option>& options,
                                       const BindContext& context) {
  if (name.parts.size() == 1) {
    for (const VisibleTable* visible = context.tables; visible != nullptr; visible = visible->outer) {
      if (visible->table->name.text != name.parts[0].text) continue;
      RETURN_IF_ERROR(CheckExpansion(name, context));
      BindContext inner = context;
      ++inner.depth;
      inner.tables = visible->outer;
      inner.owner = visible->owner;
      ASSIGN_OR_RETURN(Relation relation, Bind(*visible->table->query, inner));
      RETURN_IF_ERROR(Rename(relation, visible->table->columns, context));
      return relation;
    }
  }
  ASSIGN_OR_RETURN(std::string table_name, TableName(name, catalog_, *context.source, context.current));
  if (const Table* table = catalog_.FindTable(table_name)) return BindTable(*table, name, options, context);
  if (const View* view = catalog_.FindView(table_name)) {
    if (!options.empty()) {
      return ErrorAt(*context.source, options[0].key_range, "a view takes no OPTIONS");
    }
    return BindView(*view, name, context);
  }
  return UnknownTable(name, table_name, catalog_, *context.source);
}

Result<Relation> QueryBinder::BindTable(const Table& table, const ObjectName& name,
                                        const std::vector<Option>& options, const BindContext& context) {
  const Connector* connector = catalog_.FindConnector(table.option("connector"));
  if (connector == nullptr) {
    return ErrorAt(
        *context.source, name.range,
        fmt::format("unknown connector '{}' of table '{}'", table.option("connector"), table.name));
  }
  if (!connector->can_read() && connector->can_look_up()) {
    return ErrorAt(*context.source, name.range,
                   fmt::format("table '{}' cannot be read as a whole: connector '{}' answers for keys",
                               table.name, connector->name()))
        .Hint(fmt::format(
            "look up in it: FROM rows AS o JOIN {} FOR SYSTEM_TIME AS OF o.proc_time AS f ON f.key = "
            "o.key, with proc_time AS PROCTIME()",
            table.name));
  }
  if (!connector->can_read()) {
    return ErrorAt(
        *context.source, name.range,
        fmt::format("table '{}' cannot be read: connector '{}' only writes", table.name, connector->name()));
  }
  ASSIGN_OR_RETURN(Table copy, WithOptions(table, options, context));
  std::vector<int> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) columns.push_back(static_cast<int>(i));
  Relation relation;
  relation.scope.columns = table.schema();
  relation.node = builder_.AddScan(table.name + "/scan", std::move(copy), std::move(columns),
                                   context.source->Position(name.range));
  return relation;
}

Result<Table> QueryBinder::WithOptions(const Table& table, const std::vector<Option>& options,
                                       const BindContext& context) const {
  Table copy = table;
  for (const Option& option : options) copy.options[option.key] = option.value;
  const Connector* connector = catalog_.FindConnector(copy.option("connector"));
  if (options.empty() || connector == nullptr) return copy;
  Status valid = ValidateOptions(*connector, copy);
  if (!valid.ok()) return std::move(valid).At(context.source->Frame(options.front().key_range));
  return copy;
}

Status QueryBinder::CheckExpansion(const ObjectName& name, const BindContext& context) {
  if (context.depth >= kMaxDepth) {
    return ErrorAt(*context.source, name.range,
                   fmt::format("views and WITH tables are nested more than {} deep", kMaxDepth));
  }
  if (++expansions_ > kMaxExpansions) {
    return ErrorAt(*context.source, name.range,
                   fmt::format("the query reads views and WITH tables more than {} times, counted in each "
                               "other",
                               kMaxExpansions))
        .Hint("write the result of one of them to a table, and read that");
  }
  return Status();
}

Result<Relation> QueryBinder::BindView(const View& view, const ObjectName& name, const BindContext& context) {
  if (context.view_depth >= kMaxViewDepth) {
    return ErrorAt(*context.source, name.range,
                   fmt::format("views are nested more than {} deep", kMaxViewDepth))
        .Hint("does a view read itself?");
  }
  RETURN_IF_ERROR(CheckExpansion(name, context));
  views_.emplace_back(view.query, fmt::format("view '{}',", view.name), view.position);
  const SourceText& source = views_.back();
  ASSIGN_OR_RETURN(QueryPtr query, ParseQuery(source));
  BindContext inner{&source, view.name, nullptr, context.view_depth + 1, context.depth + 1, &view.current};
  // The tree may go after binding: the plan refers to none of it. WITH tables of the view do not outlive it
  // either.
  ASSIGN_OR_RETURN(Relation relation, Bind(*query, inner));
  if (static_cast<int>(view.columns.size()) == relation.scope.columns.size()) {
    for (size_t i = 0; i < view.columns.size(); ++i) relation.scope.columns.fields[i].name = view.columns[i];
  }
  return relation;
}

// ORDER BY names columns of the result, their positions, or what SelectBinder has put behind them.
Result<Relation> QueryBinder::BindOrder(Relation relation, const Query& query, const BindContext& context) {
  const SourceRange range = query.order_by.empty() ? query.limit_range : query.order_by_range;
  if (!batch_) {
    return NotBuiltAt(*context.source, range,
                      query.order_by.empty() ? "LIMIT in streaming mode" : "ORDER BY in streaming mode")
        .Hint("SET 'execution.runtime-mode' = 'batch' for bounded input");
  }
  SortNode sort;
  std::vector<Projection> projections;
  for (int i = 0; i < relation.scope.columns.size(); ++i) {
    const Field& field = relation.scope.columns[i];
    projections.push_back({Expr::Column(i, field.name, field.type), field.name});
  }
  std::vector<std::optional<int>> foreign;
  for (size_t i = 0; i < query.order_by.size(); ++i) {
    foreign.push_back(relation.scope.columns.Find(OrderColumnName(i)));
  }
  const auto added =
      std::count_if(foreign.begin(), foreign.end(), [](const auto& at) { return at.has_value(); });
  relation.scope.columns.fields.resize(projections.size() - static_cast<size_t>(added));
  const Scope& scope = relation.scope;
  ExpressionBinder binder(*context.source, scope);
  for (size_t i = 0; i < query.order_by.size(); ++i) {
    const OrderItem& item = query.order_by[i];
    const bool nulls_first = item.nulls_first.value_or(!item.descending);
    if (foreign[i]) {
      sort.keys.push_back({*foreign[i], !item.descending, nulls_first});
      continue;
    }
    ASSIGN_OR_RETURN(Expr key, binder.Bind(*item.expression));
    int column = key.column;
    const Literal* ordinal = std::get_if<Literal>(&item.expression->node);
    if (ordinal != nullptr && ordinal->kind == LiteralKind::kInteger) {
      column = static_cast<int>(std::get<int64_t>(key.literal.data)) - 1;
      if (column < 0 || column >= scope.columns.size()) {
        return ErrorAt(*context.source, item.expression->range,
                       fmt::format("there is no column {} to order by", column + 1));
      }
    } else if (key.kind != Expr::Kind::kColumn) {
      column = static_cast<int>(projections.size());
      projections.push_back({std::move(key), fmt::format("order${}", column)});
    }
    sort.keys.push_back({column, !item.descending, nulls_first});
  }
  sort.limit = query.limit.value_or(-1);
  sort.offset = query.offset.value_or(0);
  const SqlPosition position = context.source->Position(range);
  const bool computed = static_cast<int>(projections.size()) > builder_.node(relation.node).schema.size();
  const bool extended = static_cast<int>(projections.size()) > scope.columns.size();
  std::vector<Projection> back(projections.begin(), projections.begin() + scope.columns.size());
  if (computed) {
    relation.node =
        builder_.AddCalc(context.owner + "/calc", relation.node, {}, std::move(projections), position);
  }
  relation.node = builder_.AddSort(context.owner + "/sort", relation.node, std::move(sort), position);
  if (extended)
    relation.node = builder_.AddCalc(context.owner + "/calc", relation.node, {}, std::move(back), position);
  relation.window.reset();
  return relation;
}

}  // namespace caudal::sql
