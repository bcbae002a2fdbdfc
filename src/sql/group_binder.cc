#include "sql/group_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/aggregate_function.h"
#include "sql/physical/substitute.h"
#include "sql/select_binder.h"
#include "sql/window_spec.h"

namespace caudal::sql {
namespace {

// Placeholders stand beyond every column of an input.
constexpr int kCallPlaceholder = 1 << 20;
constexpr int kWindowPlaceholder = 1 << 21;

using WindowColumn = AggregateNode::WindowColumn;

std::string BoundName(WindowColumn column) {
  return column == WindowColumn::kStart ? "window_start"
         : column == WindowColumn::kEnd ? "window_end"
                                        : "window_time";
}

Type BoundType(const WindowSpec& window, WindowColumn column) {
  const bool local = window.local_time_zone && column == WindowColumn::kTime;
  return (local ? Type::TimestampLtz(3) : Type::Timestamp(3)).WithNullable(false);
}

}  // namespace

int GroupBinder::Input::Column(Expr expr, std::string name) {
  for (size_t i = 0; i < projections.size(); ++i) {
    if (projections[i].expr == expr) return static_cast<int>(i);
  }
  projections.push_back({std::move(expr), std::move(name)});
  return static_cast<int>(projections.size()) - 1;
}

Result<std::vector<Expr>> GroupBinder::BindKeys() {
  ExpressionBinder binder(*context_.source, input_.scope);
  for (const ExpressionPtr& key : select_.group_by) {
    const Call* call = std::get_if<Call>(&key->node);
    const std::string name = call != nullptr ? UpperCase(call->name.text) : "";
    if (name == "TUMBLE" || name == "HOP" || name == "SESSION") {
      RETURN_IF_ERROR(BindGroupWindow(*call, key->range));
      continue;
    }
    if (name == "CUMULATE") {
      return NotBuiltAt(*context_.source, key->range, fmt::format("GROUP BY {}", name));
    }
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*key));
    keys_.push_back(std::move(expr));
  }
  if (input_.window && !group_window_) {
    auto is_key = [&](int column) {
      return column >= 0 && std::ranges::any_of(keys_, [&](const Expr& key) {
               return key.kind == Expr::Kind::kColumn && key.column == column;
             });
    };
    attached_ = is_key(input_.window->start) && is_key(input_.window->end);
    if (input_.window->spec.is_session() && !attached_) return NoSessionRows(Place(), *context_.source);
  }
  return keys_;
}

Status GroupBinder::BindGroupWindow(const Call& call, SourceRange range) {
  if (group_window_) return ErrorAt(*context_.source, range, "GROUP BY has two windows");
  ASSIGN_OR_RETURN(group_window_, BindWindowArguments(call, range));
  group_window_name_ = UpperCase(call.name.text);
  return Status();
}

// TUMBLE(time, size), HOP(time, slide, size), SESSION(time, gap)
Result<WindowSpec> GroupBinder::BindWindowArguments(const Call& call, SourceRange range) {
  const SourceText& source = *context_.source;
  const std::string written = UpperCase(call.name.text);
  const std::string name = written.substr(0, written.find('_'));
  const bool hop = name == "HOP", session = name == "SESSION";
  const size_t required = hop ? 3 : 2;
  if (call.arguments.size() != required) {
    return ErrorAt(source, range, fmt::format("{} takes {} arguments here", written, required))
        .Hint(hop       ? "HOP(time, slide, size)"
              : session ? "SESSION(time, gap)"
                        : "TUMBLE(time, size)");
  }
  ExpressionBinder binder(source, input_.scope);
  const Expression& time_argument = *call.arguments[0].value;
  ASSIGN_OR_RETURN(Expr time, binder.Bind(time_argument));
  const int column = time.kind == Expr::Kind::kColumn ? time.column : -1;
  RETURN_IF_ERROR(
      RequireTimeAttribute(queries_.builder(), input_, column, time_argument.range, source, name));
  int64_t lengths[2] = {0, 0};
  for (size_t i = 1; i < required; ++i) {
    const Expression& argument = *call.arguments[i].value;
    ASSIGN_OR_RETURN(Expr interval, binder.Bind(argument));
    ASSIGN_OR_RETURN(lengths[i - 1], IntervalMillis(interval, argument.range, source,
                                                    fmt::format("{} of {}",
                                                                session         ? "the gap"
                                                                : i == 1 && hop ? "the slide"
                                                                                : "the size",
                                                                name)));
  }
  if (session) return MakeSession(input_, column, lengths[0], range, source);
  return MakeWindow(input_, column, lengths[required - 2], lengths[0], 0, range, source);
}

Result<std::optional<Expr>> GroupBinder::BindCall(const Call& call, SourceRange range, ExpressionBinder&) {
  const std::string name = UpperCase(call.name.text);
  if (call.over) {
    return NotBuiltAt(*context_.source, range, fmt::format("{} OVER (…) beside GROUP BY", name))
        .Hint("put the GROUP BY into a query in FROM");
  }
  for (std::string_view window : {"TUMBLE_", "HOP_", "SESSION_"}) {
    if (name.starts_with(window)) return BindWindowBound(call, range, name);
  }
  const AggregateFunction* function = FindAggregateFunction(name);
  if (function == nullptr) return std::optional<Expr>();
  ASSIGN_OR_RETURN(Expr placeholder, BindAggregate(call, range, *function));
  return std::optional<Expr>(std::move(placeholder));
}

// TUMBLE_START(time, size) and the like; the arguments must be those of the GROUP BY.
Result<std::optional<Expr>> GroupBinder::BindWindowBound(const Call& call, SourceRange range,
                                                         std::string_view name) {
  const std::string_view bound = name.substr(name.find('_') + 1);
  WindowColumn column;
  if (bound == "START") {
    column = WindowColumn::kStart;
  } else if (bound == "END") {
    column = WindowColumn::kEnd;
  } else if (bound == "ROWTIME") {
    column = WindowColumn::kTime;
  } else if (bound == "PROCTIME") {
    return NotBuiltAt(*context_.source, range, name);
  } else {
    return std::optional<Expr>();
  }
  const std::string function(name.substr(0, name.find('_')));
  Status mismatch = ErrorAt(*context_.source, range,
                            fmt::format("{} needs GROUP BY {}(…) with the same arguments", name, function));
  if (!group_window_ || group_window_name_ != function) return mismatch;
  ASSIGN_OR_RETURN(WindowSpec spec, BindWindowArguments(call, range));
  if (spec.size != group_window_->size || spec.slide != group_window_->slide) return mismatch;
  RequestWindowColumn(column);
  return std::optional<Expr>(Expr::Column(kWindowPlaceholder + static_cast<int>(column), BoundName(column),
                                          BoundType(*group_window_, column)));
}

// "COUNT(DISTINCT s)": the column of the Aggregate, as EXPLAIN shows it.
std::string GroupBinder::CallText(const BoundCall& call) {
  std::string text = call.name + (call.distinct ? "(DISTINCT " : "(") + (call.args.empty() ? "*" : "");
  for (size_t i = 0; i < call.args.size(); ++i) text += (i > 0 ? ", " : "") + call.args[i].ToString();
  text += ")";
  if (call.filter) text += fmt::format(" FILTER (WHERE {})", ConditionText(*call.filter));
  return text;
}

Result<Expr> GroupBinder::BindAggregate(const Call& call, SourceRange range,
                                        const AggregateFunction& function) {
  const SourceText& source = *context_.source;
  BoundCall bound{&function, std::string(function.name), {}, call.distinct, std::nullopt, {}};
  ExpressionBinder binder(source, input_.scope);  // no handler: aggregates do not nest
  if (call.star && bound.name != "COUNT")
    return ErrorAt(source, range, fmt::format("{} takes no '*'", bound.name));
  std::vector<Type> types;
  for (const Argument& argument : call.arguments) {
    if (!argument.name.text.empty()) {
      return ErrorAt(source, argument.name.range, fmt::format("{} takes no named arguments", bound.name));
    }
    ASSIGN_OR_RETURN(Expr arg, binder.Bind(*argument.value));
    types.push_back(arg.type);
    bound.args.push_back(std::move(arg));
  }
  if (call.filter) {
    ASSIGN_OR_RETURN(bound.filter, binder.BindCondition(*call.filter, "FILTER"));
  }
  Result<std::unique_ptr<Aggregator>> aggregator = function.bind(types, call.distinct, /*retracting=*/false);
  if (!aggregator.ok()) {
    const Status error = std::move(aggregator).status();
    return ErrorAt(source, range, fmt::format("{}: {}", bound.name, error.message()))
        .Hint(error.hint().empty() ? fmt::format("write it as in {}", function.example) : error.hint());
  }
  bound.result = (*aggregator)->result_type();
  size_t index = 0;
  while (index < calls_.size() &&
         !(calls_[index].function == bound.function && calls_[index].args == bound.args &&
           calls_[index].distinct == bound.distinct && calls_[index].filter == bound.filter)) {
    ++index;
  }
  Expr placeholder = Expr::Column(kCallPlaceholder + static_cast<int>(index), CallText(bound), bound.result);
  placeholder.position = source.Position(range);
  if (index == calls_.size()) calls_.push_back(std::move(bound));
  return placeholder;
}

int GroupBinder::RequestWindowColumn(WindowColumn column) {
  std::vector<WindowColumn>& columns = aggregate_.window_columns;
  auto found = std::ranges::find(columns, column);
  if (found == columns.end()) found = columns.insert(columns.end(), column);
  return static_cast<int>(found - columns.begin());
}

Result<Relation> GroupBinder::Finish(std::vector<Expr> filters, std::vector<Expr> having,
                                     std::vector<Projection> projections) {
  ASSIGN_OR_RETURN(Input input, ChooseInput(std::move(filters)));
  ASSIGN_OR_RETURN(Relation relation, AddAggregate(std::move(input)));
  for (Expr& condition : having) RETURN_IF_ERROR(ReplaceInOutput(condition));
  for (Projection& projection : projections) RETURN_IF_ERROR(ReplaceInOutput(projection.expr));
  return Project(queries_.builder(), relation, context_.owner, std::move(having), std::move(projections),
                 context_.source->Position(select_.keyword));
}

// Where the Aggregate reads from, and its window.
Result<GroupBinder::Input> GroupBinder::ChooseInput(std::vector<Expr> filters) {
  if (attached_) {
    aggregate_.windowed = true;
    std::optional<Input> below = BelowWindow(filters);
    if (input_.window->spec.is_session()) {
      if (!below) return NoSessionRows(Place(), *context_.source);
      RETURN_IF_ERROR(
          CheckSessionGroups(*input_.window, keys_, !below->filters.empty(), Place(), *context_.source));
    }
    if (below) return std::move(*below);
    return OverWindowTime(std::move(filters));
  }
  if (group_window_) {
    aggregate_.windowed = true;
    aggregate_.window = *group_window_;
  }
  return Input{input_, NameFilters(std::move(filters)), Columns(input_.scope.columns), {}};
}

// The input of the Window itself, if nothing but Calcs stands between and nobody looks at the window's
// columns: then slices shared by all windows do the work. Nothing otherwise.
std::optional<GroupBinder::Input> GroupBinder::BelowWindow(const std::vector<Expr>& filters) {
  const PlanBuilder& builder = queries_.builder();
  Input input;
  input.columns = Columns(input_.scope.columns);
  input.filters = NameFilters(filters);
  int node = input_.node;
  while (const CalcNode* calc = builder.node(node).as<CalcNode>()) {
    for (Expr& column : input.columns) column = Substitute(column, calc->projections);
    for (CalcNode::Filter& filter : input.filters)
      filter.condition = Substitute(filter.condition, calc->projections);
    input.filters.insert(input.filters.begin(), calc->filters.begin(), calc->filters.end());
    node = builder.node(node).inputs[0].node;
  }
  const WindowNode* window = builder.node(node).as<WindowNode>();
  if (window == nullptr) return std::nullopt;
  input.base.node = builder.node(node).inputs[0].node;
  input.base.scope.columns = builder.node(input.base.node).schema;
  bool looks = false;
  auto check = [&](const Expr& expr) {
    VisitColumns(expr,
                 [&](const Expr& column) { looks |= column.column >= input.base.scope.columns.size(); });
  };
  auto check_input = [&](const Expr& expr) { check(Substitute(expr, input.columns)); };
  for (const CalcNode::Filter& filter : input.filters) check(filter.condition);
  for (const Expr& key : keys_) {
    if (!IsWindowKey(key)) check_input(key);
  }
  for (const BoundCall& call : calls_) {
    for (const Expr& arg : call.args) check_input(arg);
    if (call.filter) check_input(*call.filter);
  }
  if (looks) return std::nullopt;
  aggregate_.window = window->window;
  const Field& time = input.base.scope.columns[window->window.time_column];
  input.time = Expr::Column(window->window.time_column, time.name, time.type);
  return input;
}

// Windows that slide by s end s apart: rows with one window_time form a tumbling window of length s.
Result<GroupBinder::Input> GroupBinder::OverWindowTime(std::vector<Expr> filters) {
  const WindowColumns& window = *input_.window;
  Input input{input_, NameFilters(std::move(filters)), Columns(input_.scope.columns), {}};
  aggregate_.window = window.spec;
  aggregate_.window.size = window.spec.slide;
  aggregate_.window.offset = (window.spec.offset + window.spec.size) % window.spec.slide;
  start_from_end_ = window.spec.size;
  if (window.time >= 0) {
    input.time = input.columns[static_cast<size_t>(window.time)];
    return input;
  }
  ExpressionBinder binder(*context_.source, input_.scope);
  std::vector<Expr> args;
  args.push_back(input.columns[static_cast<size_t>(window.end)]);
  args.push_back(Expr::Literal(Type(TypeId::kIntervalDayTime, false), Value(int64_t{1})));
  ASSIGN_OR_RETURN(input.time, binder.CallFunction("-", std::move(args), *select_.group_by_range));
  aggregate_.window.local_time_zone = false;
  return input;
}

bool GroupBinder::IsWindowKey(const Expr& key) const {
  return attached_ && key.kind == Expr::Kind::kColumn &&
         (key.column == input_.window->start || key.column == input_.window->end ||
          key.column == input_.window->time);
}

// Replaces what the list says in terms of keys and placeholders by columns of the Aggregate.
Status GroupBinder::ReplaceInOutput(Expr& expr) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i] == expr) {
      const SqlPosition position = expr.position;
      expr = key_outputs_[i];
      expr.position = position;
      return Status();
    }
  }
  if (expr.kind != Expr::Kind::kColumn) {
    for (Expr& arg : expr.args) RETURN_IF_ERROR(ReplaceInOutput(arg));
    return Status();
  }
  if (expr.column >= kWindowPlaceholder) {
    const auto wanted = static_cast<WindowColumn>(expr.column - kWindowPlaceholder);
    const auto found = std::ranges::find(aggregate_.window_columns, wanted);
    expr.column = window_base_ + static_cast<int>(found - aggregate_.window_columns.begin());
  } else if (expr.column >= kCallPlaceholder) {
    expr.column = static_cast<int>(aggregate_.keys.size()) + expr.column - kCallPlaceholder;
  } else {
    const uint32_t offset =
        static_cast<uint32_t>(expr.position.offset - context_.source->Position({0, 0}).offset);
    const auto length = static_cast<uint32_t>(expr.name.size());
    return ErrorAt(*context_.source, {offset, length},
                   fmt::format("column '{}' is neither in GROUP BY nor in an aggregate", expr.name))
        .Hint(fmt::format("add it to GROUP BY, or take one of its values: MAX({})", expr.name));
  }
  return Status();
}

std::vector<Expr> GroupBinder::Columns(const Schema& schema) {
  std::vector<Expr> columns;
  for (int i = 0; i < schema.size(); ++i) columns.push_back(Expr::Column(i, schema[i].name, schema[i].type));
  return columns;
}

// Keys first, then arguments and filters, then the time column; each once.
void GroupBinder::AddInputColumns(Input& input, std::vector<std::string>* names) {
  for (const Expr& key : keys_) {
    if (IsWindowKey(key)) continue;
    std::string name =
        key.kind == Expr::Kind::kColumn ? key.name : fmt::format("key${}", input.projections.size());
    const int column = input.Column(Substitute(key, input.columns), std::move(name));
    if (std::ranges::find(aggregate_.keys, column) == aggregate_.keys.end())
      aggregate_.keys.push_back(column);
  }
  for (const BoundCall& bound : calls_) {
    AggregateCall call;
    call.function = bound.function;
    call.name = bound.name;
    call.distinct = bound.distinct;
    call.result = bound.result;
    names->push_back(CallText(bound));
    for (const Expr& arg : bound.args) {
      std::string name =
          arg.kind == Expr::Kind::kColumn ? arg.name : fmt::format("arg${}", input.projections.size());
      call.args.push_back(input.Column(Substitute(arg, input.columns), std::move(name)));
    }
    if (bound.filter) {
      call.filter = input.Column(Substitute(*bound.filter, input.columns),
                                 fmt::format("filter${}", input.projections.size()));
    }
    aggregate_.calls.push_back(std::move(call));
  }
}

Result<Relation> GroupBinder::AddAggregate(Input input) {
  std::vector<std::string> names;
  AddInputColumns(input, &names);
  if (aggregate_.windowed) {
    if (!attached_) input.time = input.columns[static_cast<size_t>(group_window_->time_column)];
    std::string name = input.time->kind == Expr::Kind::kColumn ? input.time->name : "time$";
    aggregate_.window.time_column = input.Column(*input.time, std::move(name));
  }
  RETURN_IF_ERROR(SetEmission());
  PlanBuilder& builder = queries_.builder();
  const SqlPosition position = context_.source->Position(Place());
  // An input of no columns has nothing to count rows by.
  if (input.projections.empty()) {
    input.Column(Expr::Literal(Type(TypeId::kInt, false), Value(int64_t{0})), "row$");
  }
  Relation base = input.base;
  base.node = AddInputCalc(builder, input, position);
  if (attached_) {
    for (const Expr& key : keys_) {
      if (!IsWindowKey(key)) continue;
      const bool computed = start_from_end_ > 0 && KeyWindowColumn(key) == WindowColumn::kStart;
      RequestWindowColumn(computed ? WindowColumn::kEnd : KeyWindowColumn(key));
    }
  }
  window_base_ = static_cast<int>(aggregate_.keys.size() + aggregate_.calls.size());
  RETURN_IF_ERROR(SetKeyOutputs(input));
  Relation relation;
  relation.node =
      builder.AddAggregate(context_.owner + "/group-by", base.node, aggregate_, std::move(names), position);
  relation.scope.columns = builder.node(relation.node).schema;
  if (attached_ && !aggregate_.window.is_session()) relation.window = OutputWindow();
  return relation;
}

int GroupBinder::AddInputCalc(PlanBuilder& builder, Input& input, const SqlPosition& position) const {
  const Schema& schema = builder.node(input.base.node).schema;
  bool identity = input.filters.empty() && static_cast<int>(input.projections.size()) == schema.size();
  for (size_t i = 0; identity && i < input.projections.size(); ++i) {
    const Expr& expr = input.projections[i].expr;
    identity = expr.kind == Expr::Kind::kColumn && expr.column == static_cast<int>(i);
  }
  if (identity) return input.base.node;
  return builder.AddCalc(context_.owner + "/calc", input.base.node, std::move(input.filters),
                         input.projections, position);
}

Status GroupBinder::SetEmission() {
  if (aggregate_.windowed) {
    aggregate_.emit = AggregateNode::Emit::kOnWatermark;
  } else {
    aggregate_.emit = queries_.batch() ? AggregateNode::Emit::kOnEnd : AggregateNode::Emit::kOnChange;
  }
  const Options& settings = queries_.catalog().settings();
  auto setting = [&](std::string_view key) {
    auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  // Early results exist for TUMBLE and HOP in GROUP BY alone, as in Flink.
  if (!group_window_ || queries_.batch() || setting("table.exec.emit.early-fire.enabled") != "true")
    return Status();
  constexpr std::string_view kDelay = "table.exec.emit.early-fire.delay";
  const SourceRange range = Place();
  if (group_window_->is_session()) return NotBuiltAt(*context_.source, range, "an early result of SESSION");
  if (setting(kDelay).empty()) {
    return ErrorAt(*context_.source, range, "early results are enabled without a delay")
        .Hint(fmt::format("SET '{}' = '1 s'", kDelay));
  }
  ASSIGN_OR_RETURN(aggregate_.early_fire_delay, ParseDurationMillis(setting(kDelay)));
  if (aggregate_.early_fire_delay > 0) return Status();
  return NotBuiltAt(*context_.source, range, "an early result for every row, which a delay of 0 asks for,")
      .Hint(fmt::format("SET '{}' = '1 ms'", kDelay));
}

WindowColumn GroupBinder::KeyWindowColumn(const Expr& key) const {
  return key.column == input_.window->start ? WindowColumn::kStart
         : key.column == input_.window->end ? WindowColumn::kEnd
                                            : WindowColumn::kTime;
}

// Which column of the Aggregate each key is.
Status GroupBinder::SetKeyOutputs(const Input& input) {
  for (const Expr& key : keys_) {
    Expr output = key;
    output.kind = Expr::Kind::kColumn;
    output.function = nullptr;
    output.args.clear();
    if (!IsWindowKey(key)) {
      const Expr translated = Substitute(key, input.columns);
      for (size_t k = 0; k < aggregate_.keys.size(); ++k) {
        const Projection& projection = input.projections[static_cast<size_t>(aggregate_.keys[k])];
        if (projection.expr != translated) continue;
        output.column = static_cast<int>(k);
        output.name = projection.name;
      }
      output.literal = Value();
    } else if (start_from_end_ > 0 && KeyWindowColumn(key) == WindowColumn::kStart) {
      ASSIGN_OR_RETURN(output, StartFromEnd());
    } else {
      output.column = window_base_ + RequestWindowColumn(KeyWindowColumn(key));
    }
    key_outputs_.push_back(std::move(output));
  }
  return Status();
}

// window_end - size: the tumbling window over window_time has the end of the window, not its start.
Result<Expr> GroupBinder::StartFromEnd() {
  ExpressionBinder binder(*context_.source, input_.scope);
  std::vector<Expr> args;
  args.push_back(Expr::Column(window_base_ + RequestWindowColumn(WindowColumn::kEnd), "window_end",
                              Type::Timestamp(3).WithNullable(false)));
  args.push_back(Expr::Literal(Type(TypeId::kIntervalDayTime, false), Value(start_from_end_)));
  return binder.CallFunction("-", std::move(args), *select_.group_by_range);
}

WindowColumns GroupBinder::OutputWindow() const {
  WindowColumns window;
  window.spec = input_.window->spec;
  for (size_t i = 0; i < aggregate_.window_columns.size(); ++i) {
    const int column = window_base_ + static_cast<int>(i);
    if (aggregate_.window_columns[i] == WindowColumn::kStart && start_from_end_ == 0) window.start = column;
    if (aggregate_.window_columns[i] == WindowColumn::kEnd) window.end = column;
    if (aggregate_.window_columns[i] == WindowColumn::kTime) window.time = column;
  }
  return window;
}

}  // namespace caudal::sql
