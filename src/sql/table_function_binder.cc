#include "sql/table_function_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "sql/expression_binder.h"
#include "sql/select_binder.h"
#include "sql/window_spec.h"

namespace caudal::sql {
namespace {

// A parameter of a table function; those without `required` stand last.
struct Parameter {
  std::string_view name;
  bool required;
};

constexpr Parameter kTumble[] = {{"DATA", true}, {"TIMECOL", true}, {"SIZE", true}, {"OFFSET", false}};
constexpr Parameter kHop[] = {
    {"DATA", true}, {"TIMECOL", true}, {"SLIDE", true}, {"SIZE", true}, {"OFFSET", false}};
constexpr Parameter kSession[] = {{"DATA", true}, {"TIMECOL", true}, {"GAP", true}};
constexpr Parameter kDeduplicate[] = {{"INPUT", true}, {"ON_TIME", true}, {"RETAIN", true}};

constexpr std::string_view kUnbuilt[] = {"CUMULATE",   "TO_CHANGELOG", "FROM_CHANGELOG",
                                         "ML_PREDICT", "ML_EVALUATE",  "VECTOR_SEARCH"};

class TableFunctionBinder {
 public:
  TableFunctionBinder(QueryBinder& queries, const TableFunction& function, const BindContext& context)
      : queries_(queries), function_(function), context_(context), name_(UpperCase(function.name.text)) {}

  Result<Relation> Bind() {
    if (name_ == "TUMBLE") return BindWindow(kTumble);
    if (name_ == "HOP") return BindWindow(kHop);
    if (name_ == "SESSION") return BindSession();
    if (name_ == "DEDUPLICATE") return BindDeduplicate();
    if (std::ranges::find(kUnbuilt, name_) != std::end(kUnbuilt)) {
      return NotBuiltAt(source(), function_.name.range, fmt::format("the table function {}", name_));
    }
    return ErrorAt(source(), function_.name.range,
                   fmt::format("unknown table function '{}'", function_.name.text))
        .Hint("table functions are TUMBLE, HOP, SESSION and DEDUPLICATE");
  }

 private:
  using Arguments = std::array<const TableFunctionArgument*, 5>;

  const SourceText& source() const { return *context_.source; }

  // The arguments in the order of the parameters; null for one that is missing and not required.
  Result<Arguments> Match(std::span<const Parameter> parameters) {
    Arguments matched{};
    for (size_t i = 0; i < function_.arguments.size(); ++i) {
      const TableFunctionArgument& argument = function_.arguments[i];
      size_t at = i;
      if (!argument.name.text.empty()) {
        const std::string name = UpperCase(argument.name.text);
        at = static_cast<size_t>(std::ranges::find(parameters, name, &Parameter::name) - parameters.begin());
        if (at == parameters.size()) {
          return ErrorAt(source(), argument.name.range,
                         fmt::format("{} has no argument '{}'", name_, argument.name.text))
              .Hint(fmt::format("arguments are {}", Names(parameters)));
        }
      }
      if (at >= parameters.size()) {
        return ErrorAt(source(), argument.range,
                       fmt::format("{} takes at most {} arguments", name_, parameters.size()));
      }
      if (matched[at] != nullptr) {
        return ErrorAt(source(), argument.range,
                       fmt::format("argument {} of {} stands twice", parameters[at].name, name_));
      }
      matched[at] = &argument;
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].required && matched[i] == nullptr) {
        return ErrorAt(source(), function_.name.range,
                       fmt::format("{} needs the argument {}", name_, parameters[i].name))
            .Hint(fmt::format("arguments are {}", Names(parameters)));
      }
    }
    return matched;
  }

  static std::string Names(std::span<const Parameter> parameters) {
    std::string names;
    for (const Parameter& parameter : parameters) {
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", parameter.name,
                           parameter.required ? "" : " (may be left out)");
    }
    return names;
  }

  Result<const TableArgument*> Table(const TableFunctionArgument& argument) {
    const TableArgument* table = std::get_if<TableArgument>(&argument.value);
    if (table == nullptr) {
      return ErrorAt(source(), argument.range, fmt::format("{} needs a table here", name_))
          .Hint("write TABLE name, or a query in parentheses");
    }
    if (!table->order_by.empty()) {
      return NotBuiltAt(source(), table->order_by[0].expression->range,
                        fmt::format("ORDER BY in the table of {}", name_));
    }
    return table;
  }

  Result<Relation> BindInput(const TableArgument& table) {
    Result<Relation> relation =
        table.query ? queries_.Bind(*table.query, context_) : queries_.BindName(table.table, {}, context_);
    if (relation.ok() && !table.query) relation->scope.qualifier = table.table.parts.back().text;
    return relation;
  }

  // DESCRIPTOR(column), the time attribute of the input.
  Result<int> TimeColumn(const Relation& input, const TableFunctionArgument& argument) {
    const Descriptor* descriptor = std::get_if<Descriptor>(&argument.value);
    if (descriptor == nullptr || descriptor->columns.size() != 1) {
      return ErrorAt(source(), argument.range, fmt::format("{} needs DESCRIPTOR(column) here", name_));
    }
    Expression expression{descriptor->columns[0].range, Identifier{{descriptor->columns[0]}}};
    ExpressionBinder binder(source(), input.scope);
    ASSIGN_OR_RETURN(Expr column, binder.Bind(expression));
    RETURN_IF_ERROR(
        RequireTimeAttribute(queries_.builder(), input, column.column, argument.range, source(), name_));
    return column.column;
  }

  Result<int64_t> Interval(const TableFunctionArgument* argument, std::string_view parameter) {
    if (argument == nullptr) return 0;
    const ExpressionPtr* expression = std::get_if<ExpressionPtr>(&argument->value);
    if (expression == nullptr)
      return ErrorAt(source(), argument->range,
                     fmt::format("{} of {} must be an interval", parameter, name_));
    const Scope empty;
    ExpressionBinder binder(source(), empty);
    ASSIGN_OR_RETURN(Expr interval, binder.Bind(**expression));
    return IntervalMillis(interval, argument->range, source(), fmt::format("{} of {}", parameter, name_));
  }

  Result<Relation> BindWindow(std::span<const Parameter> parameters) {
    const bool hop = parameters.size() == std::size(kHop);
    ASSIGN_OR_RETURN(Arguments arguments, Match(parameters));
    ASSIGN_OR_RETURN(const TableArgument* table, Table(*arguments[0]));
    if (table->partitioned) {
      return ErrorAt(source(), arguments[0]->range, fmt::format("{} takes no PARTITION BY", name_));
    }
    ASSIGN_OR_RETURN(Relation relation, BindInput(*table));
    ASSIGN_OR_RETURN(int time, TimeColumn(relation, *arguments[1]));
    ASSIGN_OR_RETURN(int64_t slide, Interval(arguments[2], hop ? "SLIDE" : "SIZE"));
    ASSIGN_OR_RETURN(int64_t size, Interval(arguments[hop ? 3 : 2], "SIZE"));
    ASSIGN_OR_RETURN(int64_t offset, Interval(arguments[hop ? 4 : 3], "OFFSET"));
    const SourceRange range = arguments[hop ? 3 : 2]->range;
    ASSIGN_OR_RETURN(WindowSpec spec, MakeWindow(relation, time, size, slide, offset, range, source()));
    if (size % slide != 0) {
      return ErrorAt(source(), range,
                     fmt::format("SIZE of HOP must be a multiple of SLIDE: {} ms and {} ms", size, slide));
    }
    return AddWindow(std::move(relation), spec);
  }

  // Whose rows end each other's sessions is said by PARTITION BY; without one, all.
  Result<Relation> BindSession() {
    ASSIGN_OR_RETURN(Arguments arguments, Match(kSession));
    ASSIGN_OR_RETURN(const TableArgument* table, Table(*arguments[0]));
    ASSIGN_OR_RETURN(Relation relation, BindInput(*table));
    ASSIGN_OR_RETURN(const std::vector<int> partition, PartitionColumns(*table, relation));
    ASSIGN_OR_RETURN(int time, TimeColumn(relation, *arguments[1]));
    ASSIGN_OR_RETURN(int64_t gap, Interval(arguments[2], "GAP"));
    ASSIGN_OR_RETURN(WindowSpec spec, MakeSession(relation, time, gap, arguments[2]->range, source()));
    relation = AddWindow(std::move(relation), spec);
    relation.window->partition = partition;
    return relation;
  }

  Relation AddWindow(Relation relation, const WindowSpec& spec) {
    relation.node = queries_.builder().AddWindow(context_.owner + "/window", relation.node, spec,
                                                 context_.source->Position(function_.name.range));
    const int width = relation.scope.columns.size();
    for (int i = 0; i < 3; ++i) {
      relation.scope.columns.fields.push_back(queries_.builder().node(relation.node).schema[width + i]);
    }
    relation.window = WindowColumns{width, width + 1, width + 2, spec};
    return relation;
  }

  // Those of PARTITION BY, each once.
  Result<std::vector<int>> PartitionColumns(const TableArgument& table, const Relation& input) {
    std::vector<int> columns;
    ExpressionBinder binder(source(), input.scope);
    for (const ExpressionPtr& key : table.partition_by) {
      ASSIGN_OR_RETURN(Expr column, binder.Bind(*key));
      if (column.kind != Expr::Kind::kColumn) {
        return ErrorAt(source(), key->range, "PARTITION BY of a table argument takes columns only");
      }
      if (std::ranges::find(columns, column.column) == columns.end()) columns.push_back(column.column);
    }
    return columns;
  }

  // Partition columns, the other columns, rowtime: the first row of each key within `retain`.
  Result<Relation> BindDeduplicate() {
    ASSIGN_OR_RETURN(Arguments arguments, Match(kDeduplicate));
    ASSIGN_OR_RETURN(const TableArgument* table, Table(*arguments[0]));
    if (!table->partitioned) {
      return ErrorAt(source(), arguments[0]->range, "DEDUPLICATE needs PARTITION BY behind its table")
          .Hint("the partition columns say which rows repeat each other");
    }
    ASSIGN_OR_RETURN(Relation input, BindInput(*table));
    ASSIGN_OR_RETURN(int time, TimeColumn(input, *arguments[1]));
    ASSIGN_OR_RETURN(int64_t retain, Interval(arguments[2], "RETAIN"));
    if (retain <= 0) return ErrorAt(source(), arguments[2]->range, "RETAIN of DEDUPLICATE must be positive");
    ASSIGN_OR_RETURN(std::vector<int> order, PartitionColumns(*table, input));
    const int keys = static_cast<int>(order.size());
    for (int i = 0; i < input.scope.columns.size(); ++i) {
      if (std::find(order.begin(), order.begin() + keys, i) == order.begin() + keys) order.push_back(i);
    }
    return FinishDeduplicate(input, order, keys, time, retain);
  }

  Result<Relation> FinishDeduplicate(const Relation& input, const std::vector<int>& order, int keys, int time,
                                     int64_t retain) {
    const SqlPosition position = context_.source->Position(function_.name.range);
    PlanBuilder& builder = queries_.builder();
    DeduplicateNode deduplicate;
    std::vector<Projection> before, after;
    for (size_t i = 0; i < order.size(); ++i) {
      const Field& field = input.scope.columns[order[i]];
      if (field.name == "rowtime") {
        return ErrorAt(source(), function_.name.range,
                       "the input of DEDUPLICATE has a column 'rowtime', as its output will")
            .Hint("rename it in a query in parentheses");
      }
      before.push_back({Expr::Column(order[i], field.name, field.type), field.name});
      after.push_back({Expr::Column(static_cast<int>(i), field.name, field.type), field.name});
      if (order[i] == time) deduplicate.time_column = static_cast<int>(i);
      if (static_cast<int>(i) < keys) deduplicate.keys.push_back(static_cast<int>(i));
    }
    deduplicate.retain = retain;
    const Field& time_field = input.scope.columns[time];
    after.push_back({Expr::Column(deduplicate.time_column, time_field.name, time_field.type), "rowtime"});
    Relation relation = Project(builder, input, context_.owner, {}, std::move(before), position);
    relation.node = builder.AddDeduplicate(context_.owner + "/deduplicate", relation.node,
                                           std::move(deduplicate), position);
    const int rowtime = static_cast<int>(after.size()) - 1;
    relation.node =
        builder.AddCalc(context_.owner + "/calc", relation.node, {}, std::move(after), position, rowtime);
    relation.scope.columns = builder.node(relation.node).schema;
    relation.scope.qualifier.clear();
    relation.window.reset();
    return relation;
  }

  QueryBinder& queries_;
  const TableFunction& function_;
  const BindContext& context_;
  std::string name_;
};

}  // namespace

Result<Relation> BindTableFunction(QueryBinder& queries, const TableFunction& function,
                                   const BindContext& context) {
  return TableFunctionBinder(queries, function, context).Bind();
}

}  // namespace caudal::sql
