#include "sql/expression_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/aggregate_function.h"
#include "expr/evaluator.h"
#include "expr/scalar_function.h"
#include "sql/literal/literal_binder.h"
#include "sql/literal/type_binder.h"
#include "sql/parse/name_parser.h"

namespace caudal::sql {
namespace {

// In the order of BinaryOperator.
constexpr std::string_view kBinaryFunctions[] = {
    "OR", "AND", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM",
    "+",  "-",   "*", "/",  "%", "||"};

// In the order of Predicate: as written, and negated ("" = NOT around the first).
struct PredicateFunctions {
  std::string_view plain, negated;
};
constexpr PredicateFunctions kPredicates[] = {{"IS NULL", "IS NOT NULL"},
                                              {"IS TRUE", "IS NOT TRUE"},
                                              {"IS FALSE", "IS NOT FALSE"},
                                              {"IS UNKNOWN", "IS NOT UNKNOWN"},
                                              {"IS JSON", ""},
                                              {"IS JSON OBJECT", ""},
                                              {"IS JSON ARRAY", ""},
                                              {"IS JSON SCALAR", ""}};

// Of Flink, and what to write until they are built.
struct UnbuiltFunction {
  std::string_view name, hint;
};
constexpr UnbuiltFunction kUnbuiltFunctions[] = {
    {"UUID", "number the rows where they are made: a result must not change when it is computed again"},
    {"RAND", "a result must not change when it is computed again; MD5 of a key spreads rows as well"},
    {"RAND_INTEGER", "a result must not change when it is computed again; MD5 of a key spreads rows as well"},
    {"CURRENT_WATERMARK", "'caudal status' and the metrics show the watermark"},
    {"PERCENTILE", "ROW_NUMBER() OVER (… ORDER BY x) gives ranks"},
    {"TYPEOF", "DESCRIBE gives the types of a table or view"},
    {"ENCODE", "CAST(text AS BYTES) gives UTF-8"},
    {"DECODE", "CAST(bytes AS STRING) reads UTF-8"}};

bool IsNumber(const Literal& literal) {
  return literal.kind == LiteralKind::kInteger || literal.kind == LiteralKind::kDecimal ||
         literal.kind == LiteralKind::kApproximate;
}

// `a > 5` with a BIGINT compares with the literal 5, not with CAST(5 AS BIGINT). A cast that fails stays for
// run time.
void FoldCastOfLiteral(Expr& expr) {
  const bool cast = expr.kind == Expr::Kind::kCall && expr.name == "CAST" && expr.args.size() == 1;
  if (!cast || expr.args[0].kind != Expr::Kind::kLiteral || expr.type.is_timestamp()) return;
  Result<Value> value = EvalConstant(expr);
  if (!value.ok()) return;
  const SqlPosition position = expr.position;
  expr = Expr::Literal(expr.type, std::move(value).value());
  expr.position = position;
}

// The name in front of a point is neither the table nor a column.
Status UnknownTable(const Name& name, const Scope& scope, const SourceText& source) {
  Status status = ErrorAt(source, name.range, fmt::format("unknown table or column '{}'", name.text));
  const std::string tables = scope.TableNames();
  if (tables.empty())
    return std::move(status).Hint("write the column alone: what it is taken from has no name");
  return std::move(status).Hint(fmt::format("what it is taken from is called {}", tables));
}

Status UnknownFunction(const Name& written, const SourceText& source) {
  const std::string name = UpperCase(written.text);
  for (const UnbuiltFunction& each : kUnbuiltFunctions) {
    if (each.name == name)
      return NotBuiltAt(source, written.range, fmt::format("the function {}", name))
          .Hint(std::string(each.hint));
  }
  for (std::string_view window : {"TUMBLE", "HOP", "SESSION"}) {
    const bool of_group = name.starts_with(window) && name.substr(window.size()).starts_with('_');
    if (name != window && !of_group) continue;
    return ErrorAt(source, written.range, fmt::format("{} may not stand here", name))
        .Hint(fmt::format("it needs GROUP BY {}(…); over TABLE({}(…)) take window_start and window_end",
                          window, window));
  }
  std::vector<std::string> known;
  for (const ScalarFunction& each : ScalarFunctions()) known.emplace_back(each.name);
  for (const AggregateFunction& each : AggregateFunctions()) known.emplace_back(each.name);
  Status status = ErrorAt(source, written.range, fmt::format("unknown function '{}'", written.text));
  std::string nearest = NearestName(name, known);
  if (nearest.empty()) return std::move(status).Hint("SHOW FUNCTIONS lists what there is");
  return std::move(status).Hint(fmt::format("did you mean {}?", nearest));
}

}  // namespace

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

struct ExpressionBinder::Visitor {
  ExpressionBinder& binder;
  SourceRange range;

  Result<Expr> operator()(const Identifier& node) { return binder.BindIdentifier(node, range); }
  Result<Expr> operator()(const Literal& node) { return BindLiteral(node, false, range, binder.source_); }
  Result<Expr> operator()(const IntervalLiteral& node) { return BindInterval(node, range, binder.source_); }
  Result<Expr> operator()(const Unary& node) { return binder.BindUnary(node, range); }
  Result<Expr> operator()(const Binary& node) { return binder.BindBinary(node, range); }
  Result<Expr> operator()(const Is& node) { return binder.BindIs(node, range); }
  Result<Expr> operator()(const Between& node) { return binder.BindBetween(node, range); }
  Result<Expr> operator()(const InList& node) { return binder.BindIn(node, range); }
  Result<Expr> operator()(const Like& node) { return binder.BindLike(node, range); }
  Result<Expr> operator()(const Case& node) { return binder.BindCase(node, range); }
  Result<Expr> operator()(const Cast& node) { return binder.BindCast(node, range); }
  Result<Expr> operator()(const Symbol& node) { return BindWord(node.text); }
  Result<Expr> operator()(const Call& node) { return binder.BindCallNode(node, range); }
  Result<Expr> operator()(const JsonCall& node) { return binder.BindJsonCall(node, range); }
  Result<Expr> operator()(const JsonConstructor& node) { return binder.BindJsonConstructor(node, range); }
  Result<Expr> operator()(const RowConstructor& node) { return Construct("ROW", node.fields); }
  Result<Expr> operator()(const ArrayConstructor& node) { return Construct("ARRAY", node.elements); }
  Result<Expr> operator()(const MapConstructor& node) { return Construct("MAP", node.entries); }
  Result<Expr> operator()(const ItemAccess& node) {
    ASSIGN_OR_RETURN(Expr collection, binder.Bind(*node.collection));
    ASSIGN_OR_RETURN(Expr index, binder.Bind(*node.index));
    std::vector<Expr> args;
    args.push_back(std::move(collection));
    args.push_back(std::move(index));
    return binder.CallFunction("ITEM", std::move(args), range);
  }
  Result<Expr> operator()(const FieldAccess& node) {
    ASSIGN_OR_RETURN(Expr row, binder.Bind(*node.operand));
    return binder.AccessField(std::move(row), node.field);
  }

 private:
  Result<Expr> Construct(std::string_view name, const ExpressionList& list) {
    ASSIGN_OR_RETURN(std::vector<Expr> args, binder.BindAll(list));
    return binder.CallFunction(name, std::move(args), range);
  }
};

Result<Expr> ExpressionBinder::Bind(const Expression& expression) {
  return std::visit(Visitor{*this, expression.range}, expression.node);
}

Result<Expr> ExpressionBinder::BindCondition(const Expression& expression, std::string_view clause) {
  ASSIGN_OR_RETURN(Expr condition, Bind(expression));
  if (condition.type.id() == TypeId::kNull)
    return ::caudal::BindCast(std::move(condition), Type(TypeId::kBoolean));
  if (condition.type.id() == TypeId::kBoolean) return condition;
  return ErrorAt(source_, expression.range,
                 fmt::format("{} needs a BOOLEAN, not {}", clause, condition.type.ToString()))
      .Hint("compare it with a value, as in a = 1");
}

Status ExpressionBinder::BindConjuncts(const Expression& expression, std::string_view clause,
                                       std::vector<Expr>* conjuncts) {
  const Binary* binary = std::get_if<Binary>(&expression.node);
  if (binary != nullptr && binary->op == BinaryOperator::kAnd) {
    RETURN_IF_ERROR(BindConjuncts(*binary->left, clause, conjuncts));
    return BindConjuncts(*binary->right, clause, conjuncts);
  }
  ASSIGN_OR_RETURN(Expr condition, BindCondition(expression, clause));
  conjuncts->push_back(std::move(condition));
  return Status();
}

Result<Expr> ExpressionBinder::CallFunction(std::string_view name, std::vector<Expr> args,
                                            SourceRange range) {
  const ScalarFunction* function = FindScalarFunction(name);
  if (function == nullptr) return NotBuiltAt(source_, range, fmt::format("the function {}", name));
  Result<Expr> call = ::caudal::BindCall(*function, std::move(args), source_.Position(range));
  if (!call.ok()) {
    Status status = std::move(call).status().At(source_.Frame(range));
    if (function->example.empty()) return status;
    return std::move(status).Hint(fmt::format("write it as in {}", function->example));
  }
  for (Expr& arg : call->args) FoldCastOfLiteral(arg);
  return call;
}

Result<std::vector<Expr>> ExpressionBinder::BindAll(const ExpressionList& list) {
  std::vector<Expr> exprs;
  for (const ExpressionPtr& expression : list) {
    ASSIGN_OR_RETURN(Expr expr, Bind(*expression));
    exprs.push_back(std::move(expr));
  }
  return exprs;
}

// The first part is the table if it is its name and the second one of its columns; else it is a column.
Result<Expr> ExpressionBinder::BindIdentifier(const Identifier& identifier, SourceRange range) {
  const std::vector<Name>& parts = identifier.parts;
  size_t first = 0;
  std::pair<int, int> among(0, scope_.columns.size());
  const auto table = parts.size() > 1 ? scope_.ColumnsOf(parts[0].text) : std::nullopt;
  if (table && scope_.Find(parts[1].text, table->first, table->second) != Scope::kNone) {
    first = 1;
    among = *table;
  }
  const int column = scope_.Find(parts[first].text, among.first, among.second);
  if (column == Scope::kNone) {
    // PI needs no parentheses.
    if (parts.size() == 1 && UpperCase(parts[0].text) == "PI") return CallFunction("PI", {}, range);
    if (parts.size() > 1 && !table) return UnknownTable(parts[0], scope_, source_);
    return UnknownColumn(parts.size() > 1 ? parts[1] : parts[first]);
  }
  if (column == Scope::kSeveral) {
    Status status =
        ErrorAt(source_, parts[first].range, fmt::format("column '{}' is ambiguous", parts[first].text));
    if (scope_.joined.empty()) return status;
    return std::move(status).Hint(fmt::format("write its table in front of it: {}", scope_.TableNames()));
  }
  Expr expr = Expr::Column(column, parts[first].text, scope_.columns[column].type);
  expr.position = source_.Position(range);
  for (size_t i = first + 1; i < parts.size(); ++i) {
    ASSIGN_OR_RETURN(expr, AccessField(std::move(expr), parts[i]));
  }
  return expr;
}

Result<Expr> ExpressionBinder::UnknownColumn(const Name& name) const {
  std::vector<std::string> known;
  for (const Field& field : scope_.columns.fields) {
    if (!field.name.starts_with('$')) known.push_back(field.name);
  }
  Status status = ErrorAt(source_, name.range, fmt::format("unknown column '{}'", name.text));
  if (known.empty()) return std::move(status).Hint("there is no table to take it from");
  std::string nearest = NearestName(name.text, known);
  if (!nearest.empty()) return std::move(status).Hint(fmt::format("did you mean '{}'?", nearest));
  return std::move(status).Hint(fmt::format("columns are {}", fmt::join(known, ", ")));
}

Result<Expr> ExpressionBinder::AccessField(Expr row, const Name& field) {
  if (row.type.id() != TypeId::kRow) {
    Status status = ErrorAt(
        source_, field.range,
        fmt::format("'{}' cannot be taken from {}, which is no ROW", field.text, row.type.ToString()));
    if (!row.type.is_string()) return status;
    return std::move(status).Hint(fmt::format("of a text that is JSON: JSON_VALUE(…, '$.{}')", field.text));
  }
  std::vector<std::string> names;
  for (const Field& child : row.type.children()) names.push_back(child.name);
  if (std::ranges::find(names, field.text) == names.end()) {
    return ErrorAt(source_, field.range, fmt::format("the ROW has no field '{}'", field.text))
        .Hint(fmt::format("fields are {}", fmt::join(names, ", ")));
  }
  std::vector<Expr> args;
  args.push_back(std::move(row));
  args.push_back(BindWord(field.text));
  return CallFunction("FIELD", std::move(args), field.range);
}

Result<Expr> ExpressionBinder::BindUnary(const Unary& unary, SourceRange range) {
  const Literal* literal = std::get_if<Literal>(&unary.operand->node);
  if (literal != nullptr && IsNumber(*literal) && unary.op != UnaryOperator::kNot) {
    return BindLiteral(*literal, unary.op == UnaryOperator::kMinus, range, source_);
  }
  if (unary.op == UnaryOperator::kNot) {
    ASSIGN_OR_RETURN(Expr condition, BindCondition(*unary.operand, "NOT"));
    return Negate(std::move(condition), true, range);
  }
  ASSIGN_OR_RETURN(Expr operand, Bind(*unary.operand));
  std::vector<Expr> args;
  args.push_back(std::move(operand));
  if (unary.op == UnaryOperator::kMinus) return CallFunction("-", std::move(args), range);
  // A plus changes nothing but may only stand before what a minus may.
  RETURN_IF_ERROR(CallFunction("-", args, range).status());
  return std::move(args[0]);
}

Result<Expr> ExpressionBinder::BindBinary(const Binary& binary, SourceRange range) {
  std::vector<Expr> args;
  ASSIGN_OR_RETURN(Expr left, Bind(*binary.left));
  ASSIGN_OR_RETURN(Expr right, Bind(*binary.right));
  args.push_back(std::move(left));
  args.push_back(std::move(right));
  return CallFunction(kBinaryFunctions[static_cast<size_t>(binary.op)], std::move(args), range);
}

Result<Expr> ExpressionBinder::Negate(Expr condition, bool negated, SourceRange range) {
  if (!negated) return condition;
  std::vector<Expr> args;
  args.push_back(std::move(condition));
  return CallFunction("NOT", std::move(args), range);
}

Result<Expr> ExpressionBinder::BindIs(const Is& is, SourceRange range) {
  ASSIGN_OR_RETURN(Expr operand, Bind(*is.operand));
  std::vector<Expr> args;
  args.push_back(std::move(operand));
  const PredicateFunctions& functions = kPredicates[static_cast<size_t>(is.predicate)];
  if (is.negated && !functions.negated.empty())
    return CallFunction(functions.negated, std::move(args), range);
  ASSIGN_OR_RETURN(Expr test, CallFunction(functions.plain, std::move(args), range));
  return Negate(std::move(test), is.negated, range);
}

// a BETWEEN b AND c is a >= b AND a <= c; SYMMETRIC also tries the bounds the other way round.
Result<Expr> ExpressionBinder::BindBetween(const Between& between, SourceRange range) {
  ASSIGN_OR_RETURN(Expr operand, Bind(*between.operand));
  ASSIGN_OR_RETURN(Expr low, Bind(*between.low));
  ASSIGN_OR_RETURN(Expr high, Bind(*between.high));
  auto inside = [&](const Expr& from, const Expr& to) -> Result<Expr> {
    ASSIGN_OR_RETURN(Expr above, CallFunction(">=", {operand, from}, range));
    ASSIGN_OR_RETURN(Expr below, CallFunction("<=", {operand, to}, range));
    return CallFunction("AND", {std::move(above), std::move(below)}, range);
  };
  ASSIGN_OR_RETURN(Expr test, inside(low, high));
  if (between.symmetric) {
    ASSIGN_OR_RETURN(Expr reverse, inside(high, low));
    ASSIGN_OR_RETURN(test, CallFunction("OR", {std::move(test), std::move(reverse)}, range));
  }
  return Negate(std::move(test), between.negated, range);
}

Result<Expr> ExpressionBinder::BindIn(const InList& in, SourceRange range) {
  ASSIGN_OR_RETURN(Expr operand, Bind(*in.operand));
  std::vector<Expr> args;
  args.push_back(std::move(operand));
  for (const ExpressionPtr& value : in.values) {
    ASSIGN_OR_RETURN(Expr expr, Bind(*value));
    args.push_back(std::move(expr));
  }
  ASSIGN_OR_RETURN(Expr test, CallFunction("IN", std::move(args), range));
  return Negate(std::move(test), in.negated, range);
}

Result<Expr> ExpressionBinder::BindLike(const Like& like, SourceRange range) {
  std::vector<Expr> args;
  for (const ExpressionPtr* part : {&like.operand, &like.pattern, &like.escape}) {
    if (!*part) continue;
    ASSIGN_OR_RETURN(Expr expr, Bind(**part));
    args.push_back(std::move(expr));
  }
  ASSIGN_OR_RETURN(Expr test, CallFunction(like.similar ? "SIMILAR TO" : "LIKE", std::move(args), range));
  return Negate(std::move(test), like.negated, range);
}

// CASE takes condition and result in turn, and the ELSE at the end.
Result<Expr> ExpressionBinder::BindCase(const Case& node, SourceRange range) {
  std::vector<Expr> args;
  std::optional<Expr> operand;
  if (node.operand) {
    ASSIGN_OR_RETURN(operand, Bind(*node.operand));
  }
  for (const Case::When& when : node.whens) {
    std::optional<Expr> any;
    for (const ExpressionPtr& condition : when.conditions) {
      Result<Expr> test = operand ? Bind(*condition) : BindCondition(*condition, "WHEN");
      if (test.ok() && operand)
        test = CallFunction("=", {*operand, std::move(test).value()}, condition->range);
      if (test.ok() && any)
        test = CallFunction("OR", {std::move(*any), std::move(test).value()}, condition->range);
      if (!test.ok()) return test;
      any = std::move(test).value();
    }
    args.push_back(std::move(*any));
    ASSIGN_OR_RETURN(Expr result, Bind(*when.result));
    args.push_back(std::move(result));
  }
  if (node.otherwise) {
    ASSIGN_OR_RETURN(Expr otherwise, Bind(*node.otherwise));
    args.push_back(std::move(otherwise));
  } else {
    args.push_back(Expr::Literal(Type(), Value()));
  }
  return CallFunction("CASE", std::move(args), range);
}

Result<Expr> ExpressionBinder::BindCast(const Cast& cast, SourceRange range) {
  ASSIGN_OR_RETURN(Expr operand, Bind(*cast.operand));
  ASSIGN_OR_RETURN(Type type, BindType(cast.type, source_));
  const bool nullable = operand.type.nullable() || cast.is_try;
  Result<Expr> call = ::caudal::BindCast(std::move(operand), type.WithNullable(nullable), cast.is_try,
                                         source_.Position(range));
  if (call.ok()) return call;
  return std::move(call).status().At(source_.Frame(range));
}

Result<Expr> ExpressionBinder::BindCallNode(const Call& call, SourceRange range) {
  if (handler_ != nullptr) {
    ASSIGN_OR_RETURN(std::optional<Expr> bound, handler_->BindCall(call, range, *this));
    if (bound) return std::move(*bound);
  }
  const std::string name = UpperCase(call.name.text);
  const ScalarFunction* function = FindScalarFunction(name);
  if (FindAggregateFunction(name) != nullptr && (function == nullptr || call.star || call.distinct)) {
    return ErrorAt(source_, range, fmt::format("the aggregate {} may not stand here", name))
        .Hint("compute it in a subquery or view, and use its column here");
  }
  if (call.over) return NotBuiltAt(source_, call.over->range, fmt::format("{} OVER (…)", name));
  if (function == nullptr) return UnknownFunction(call.name, source_);
  if (call.star || call.distinct || call.filter) {
    return ErrorAt(source_, range,
                   fmt::format("{} is no aggregate: it has no {}", name,
                               call.star       ? "'*'"
                               : call.distinct ? "DISTINCT"
                                               : "FILTER"));
  }
  std::vector<Expr> args;
  for (const Argument& argument : call.arguments) {
    if (!argument.name.text.empty()) {
      return ErrorAt(source_, argument.name.range, fmt::format("{} takes no named arguments", name));
    }
    ASSIGN_OR_RETURN(Expr arg, Bind(*argument.value));
    args.push_back(std::move(arg));
  }
  return CallFunction(name, std::move(args), range);
}

// Words take the place of the clauses: JSON_VALUE(text, path, type, on empty, default, on error, default),
// JSON_EXISTS(text, path, on error), JSON_QUERY(text, path, wrapper, on empty, on error).
Result<Expr> ExpressionBinder::BindJsonCall(const JsonCall& call, SourceRange range) {
  std::vector<Expr> args;
  ASSIGN_OR_RETURN(Expr input, Bind(*call.input));
  ASSIGN_OR_RETURN(Expr path, Bind(*call.path));
  args.push_back(std::move(input));
  args.push_back(std::move(path));
  if (call.function == JsonFunction::kValue) {
    args.push_back(BindWord(call.returning ? call.returning->name : "STRING"));
    RETURN_IF_ERROR(AddJsonBehavior(call.on_empty, /*with_default=*/true, &args));
    RETURN_IF_ERROR(AddJsonBehavior(call.on_error, /*with_default=*/true, &args));
  } else if (call.function == JsonFunction::kExists) {
    if (call.on_empty) return ErrorAt(source_, range, "JSON_EXISTS has no ON EMPTY");
    if (call.on_error) RETURN_IF_ERROR(AddJsonBehavior(call.on_error, /*with_default=*/false, &args));
  } else {
    if (call.returning && call.returning->name != "STRING" && call.returning->name != "VARCHAR") {
      return NotBuiltAt(source_, call.returning->range,
                        "JSON_QUERY with RETURNING of another type than STRING");
    }
    static constexpr std::string_view kWrappers[] = {"WITHOUT", "CONDITIONAL", "UNCONDITIONAL"};
    args.push_back(BindWord(kWrappers[static_cast<size_t>(call.wrapper.value_or(JsonWrapper::kWithout))]));
    RETURN_IF_ERROR(AddJsonBehavior(call.on_empty, /*with_default=*/false, &args));
    RETURN_IF_ERROR(AddJsonBehavior(call.on_error, /*with_default=*/false, &args));
  }
  return CallFunction(UpperCase(call.name.text), std::move(args), range);
}

// NULL where nothing is said; the value of DEFAULT follows its word.
Status ExpressionBinder::AddJsonBehavior(const std::optional<JsonBehavior>& behavior, bool with_default,
                                         std::vector<Expr>* args) {
  static constexpr std::string_view kWords[] = {"NULL",  "ERROR",   "DEFAULT",     "TRUE",
                                                "FALSE", "UNKNOWN", "EMPTY ARRAY", "EMPTY OBJECT"};
  args->push_back(BindWord(behavior ? kWords[static_cast<size_t>(behavior->kind)] : "NULL"));
  if (!with_default) return Status();
  Expr value = Expr::Literal(Type(), Value());
  if (behavior && behavior->default_value) {
    ASSIGN_OR_RETURN(value, Bind(*behavior->default_value));
  }
  args->push_back(std::move(value));
  return Status();
}

Result<Expr> ExpressionBinder::BindJsonConstructor(const JsonConstructor& call, SourceRange range) {
  ASSIGN_OR_RETURN(std::vector<Expr> args, BindAll(call.arguments));
  const bool object = UpperCase(call.name.text) == "JSON_OBJECT";
  args.insert(args.begin(), BindWord(call.null_on_null.value_or(object) ? "NULL" : "ABSENT"));
  return CallFunction(UpperCase(call.name.text), std::move(args), range);
}

}  // namespace caudal::sql
