// Every function's example in the reference is SQL that gives what the reference says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "data/column_builder.h"
#include "expr/aggregate_function.h"
#include "expr/evaluator.h"
#include "expr/function_reference.h"
#include "expr/scalar_function.h"
#include "sql/expression_binder.h"
#include "sql/parse/parser.h"

namespace caudal::sql {
namespace {

// The value of an expression as CAST(… AS STRING) writes it, BYTES as a literal.
std::string ValueOf(std::string_view text) {
  const SourceText source{std::string(text)};
  Result<ExpressionPtr> parsed = ParseExpression(source);
  if (!parsed.ok()) return parsed.status().ToString();
  const Scope scope;
  Result<Expr> expr = ExpressionBinder(source, scope).Bind(**parsed);
  if (!expr.ok()) return expr.status().ToString();
  if (!expr->type.is_binary()) {
    Result<Expr> cast = BindCast(std::move(*expr), Type::String());
    if (!cast.ok()) return cast.status().ToString();
    expr = std::move(cast);
  }
  Result<Value> value = EvalConstant(*expr);
  if (!value.ok()) return value.status().ToString();
  if (value->is_null()) return "NULL";
  if (expr->type.is_binary()) return Expr::Literal(expr->type, *value).ToString();
  return std::get<std::string>(value->data);
}

TEST(FunctionExamples, GiveWhatTheReferenceSays) {
  for (const ScalarFunction& function : ScalarFunctions()) {
    if (function.example.empty()) continue;  // FIELD needs a table
    EXPECT_EQ(ValueOf(function.example), function.example_result)
        << function.name << ": " << function.example;
  }
}

// The VALUES behind FROM as columns, named by the alias of the table.
Chunk ValuesOf(const Select& select, const SourceText& source, Scope* scope) {
  const Query& query = *std::get<DerivedTable>(select.from->node).query;
  const Values& values = std::get<Values>(query.body);
  std::vector<ColumnPtr> columns;
  for (size_t c = 0; c < values.rows[0].size(); ++c) {
    std::vector<Expr> cells;
    std::vector<Type> types;
    for (const ExpressionList& row : values.rows) {
      cells.push_back(ExpressionBinder(source, Scope()).Bind(*row[c]).value());
      types.push_back(cells.back().type);
    }
    ColumnBuilder builder(CommonType(types).value());
    for (const Expr& cell : cells) builder.AppendValue(EvalConstant(cell).value());
    scope->columns.fields.push_back({select.from->column_aliases[c].text, builder.type()});
    columns.push_back(builder.Finish());
  }
  return Chunk(columns, static_cast<int32_t>(values.rows.size()));
}

std::string Aggregated(const Call& call, const SourceText& source, const Scope& scope, const Chunk& chunk) {
  Evaluator evaluator;
  RowErrors errors;
  std::vector<Type> types;
  std::vector<ColumnPtr> args;
  for (const Argument& argument : call.arguments) {
    const Expr arg = ExpressionBinder(source, scope).Bind(*argument.value).value();
    types.push_back(arg.type);
    args.push_back(evaluator.Eval(arg, chunk, chunk.rows(), errors));
  }
  auto bound = FindAggregateFunction(UpperCase(call.name.text))->bind(types, call.distinct, false);
  if (!bound.ok()) return bound.status().ToString();
  const Aggregator& aggregator = **bound;
  std::vector<int64_t> memory(static_cast<size_t>(aggregator.width()) / 8 + 1);
  char* accumulator = reinterpret_cast<char*>(memory.data());
  aggregator.Init(accumulator);
  const std::vector<char*> targets(static_cast<size_t>(chunk.size()), accumulator);
  aggregator.Add(targets.data(), args, chunk.rows());
  ColumnBuilder out(aggregator.result_type());
  const char* const result = accumulator;
  aggregator.Result(&result, 1, &out);
  aggregator.Destroy(accumulator);
  const ColumnPtr column = out.Finish();
  const Expr text = BindCast(Expr::Column(0, "r", column->type()), Type::String()).value();
  const Chunk row({column}, 1);
  return ValueAt(*evaluator.Eval(text, row, row.rows(), errors), 0).is_null()
             ? "NULL"
             : std::get<std::string>(ValueAt(*evaluator.Eval(text, row, row.rows(), errors), 0).data);
}

TEST(FunctionExamples, AggregatesGiveWhatTheReferenceSays) {
  for (const AggregateFunction& function : AggregateFunctions()) {
    const SourceText source{std::string(function.example)};
    Result<QueryPtr> query = ParseQuery(source);
    ASSERT_TRUE(query.ok()) << query.status().ToString();
    const Select& select = std::get<Select>((*query)->body);
    Scope scope;
    const Chunk chunk = ValuesOf(select, source, &scope);
    std::string results;
    for (const SelectItem& item : select.items) {
      if (!results.empty()) results += ", ";
      results += Aggregated(std::get<Call>(item.expression->node), source, scope, chunk);
    }
    EXPECT_EQ(results, function.example_result) << function.example;
  }
}

TEST(FunctionExamples, TheReferenceInDocsIsUpToDate) {
  const std::filesystem::path root =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream file(root / "docs" / "functions.md");
  ASSERT_TRUE(file.good()) << "docs/functions.md is missing";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), FunctionReference()) << "run: caudal functions --markdown > docs/functions.md";
}

TEST(FunctionExamples, EveryFunctionIsDescribedOnce) {
  std::set<std::string_view> names;
  const std::string reference = FunctionReference();
  for (const ScalarFunction& function : ScalarFunctions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name << " stands twice";
    EXPECT_FALSE(function.doc.empty()) << function.name;
    EXPECT_EQ(FindScalarFunction(function.name), &function);
    const std::string shown = function.name == "||" ? "\\|\\|" : std::string(function.name);
    EXPECT_NE(reference.find(fmt::format("| `{}` |", shown)), std::string::npos) << function.name;
  }
  EXPECT_GE(names.size(), 60u);
}

}  // namespace
}  // namespace caudal::sql
