#include "expr/evaluator.h"

#include <gtest/gtest.h>

#include <numeric>

#include "data/column_builder.h"
#include "data/string_dictionary.h"
#include "expr/scalar_function.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

Expr Int(int64_t value) { return Expr::Literal(Type(TypeId::kInt, false), Value(value)); }
Expr Text(std::string value) {
  const Type type = Type::Char(static_cast<int32_t>(value.size())).WithNullable(false);
  return Expr::Literal(type, Value(std::move(value)));
}
Expr Null() { return Expr::Literal(Type(), Value()); }
Expr Call(std::string_view name, std::vector<Expr> args) {
  const ScalarFunction* function = FindScalarFunction(name);
  EXPECT_NE(function, nullptr) << name;
  Result<Expr> call = BindCall(*function, std::move(args));
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  return call.ok() ? *call : Null();
}
Expr Cast(Expr arg, const Type& type, bool try_cast = false) {
  Result<Expr> cast = BindCast(std::move(arg), type, try_cast);
  EXPECT_TRUE(cast.ok()) << cast.status().ToString();
  return cast.ok() ? *cast : Null();
}
std::string TextOf(const Expr& expr) {
  Result<Value> value = EvalConstant(Cast(expr, Type::String()));
  if (!value.ok()) return "error: " + value.status().message();
  return value->is_null() ? "<NULL>" : std::get<std::string>(value->data);
}

ColumnPtr Ints(const std::vector<std::optional<int64_t>>& values, Type type = Type(TypeId::kInt)) {
  ColumnBuilder builder(type);
  for (const auto& value : values) builder.AppendValue(value ? Value(*value) : Value());
  return builder.Finish();
}
ColumnPtr Strings(const std::vector<std::string>& values) {
  ColumnBuilder builder(Type::String());
  for (const std::string& value : values) builder.AppendString(value);
  return builder.Finish();
}
// Statuses of 4,096 rows, dictionary-coded.
ColumnPtr Coded(const std::vector<std::string>& values, int32_t rows) {
  auto* writer = new StringDictionary(1);
  const StringDictionaryPtr dictionary(writer);
  for (const std::string& value : values) writer->Append(value);
  auto codes = Buffer::Allocate(static_cast<size_t>(rows) * 4);
  for (int32_t i = 0; i < rows; ++i)
    codes->mutable_as<int32_t>()[i] = i % static_cast<int32_t>(values.size());
  return Column::Dictionary(Type::String(), rows, codes, nullptr, dictionary, dictionary->size());
}

std::vector<std::string> Column2Text(const ColumnPtr& column, RowSet rows) {
  std::vector<std::string> texts;
  for (int32_t i = 0; i < rows.count; ++i) {
    const Value value = ValueAt(*column, rows[i]);
    texts.push_back(Expr::Literal(column->type(), value).ToString());
  }
  return texts;
}

std::vector<std::string> Evaluated(const Expr& expr, const Chunk& chunk, RowErrors* errors = nullptr) {
  Evaluator evaluator;
  RowErrors local;
  const ColumnPtr column = evaluator.Eval(expr, chunk, chunk.rows(), errors != nullptr ? *errors : local);
  if (errors == nullptr) {
    EXPECT_TRUE(local.empty()) << local.entries()[0].message;
  }
  return Column2Text(column, chunk.rows());
}

using Texts = std::vector<std::string>;

TEST(Evaluator, ComparesWithNullsAndSelections) {
  const Chunk chunk({Ints({1, 2, std::nullopt, 4})}, 4);
  const Expr a = Expr::Column(0, "a", Type(TypeId::kInt));
  EXPECT_EQ(Evaluated(Call("<", {a, Int(3)}), chunk), (Texts{"TRUE", "TRUE", "NULL", "FALSE"}));
  EXPECT_EQ(Evaluated(Call("=", {a, a}), chunk), (Texts{"TRUE", "TRUE", "NULL", "TRUE"}));
  EXPECT_EQ(Evaluated(Call("IS NOT DISTINCT FROM", {a, Null()}), chunk),
            (Texts{"FALSE", "FALSE", "TRUE", "FALSE"}));
  EXPECT_EQ(Evaluated(Call("IN", {a, Int(1), Null()}), chunk), (Texts{"TRUE", "NULL", "NULL", "NULL"}));
  Evaluator evaluator;
  RowErrors errors;
  const std::vector<uint16_t> rows = {3, 1};
  std::vector<uint16_t> passed;
  evaluator.Filter(Call(">", {a, Int(1)}), chunk, {rows.data(), 2}, errors, &passed);
  EXPECT_EQ(passed, (std::vector<uint16_t>{3, 1}));
}

TEST(Evaluator, ErrorsAreOfTheInnermostCallThatTheUserWrote) {
  const auto at = [](Expr expr, int32_t line) {
    expr.position = {.offset = line * 10, .line = line, .column = 3, .file = "job.sql"};
    return expr;
  };
  const Chunk chunk({Strings({"1", "x", "0"})}, 3);
  const Expr text = Expr::Column(0, "s", Type::String());
  // The division's own cast is the planner's, and the sum's side without an error says nothing.
  const Expr cast = at(Cast(text, Type(TypeId::kInt)), 1);
  const Expr quotient = at(Call("/", {Int(10), cast}), 2);
  const Expr sum = at(Call("+", {Int(1), Cast(quotient, Type(TypeId::kBigInt))}), 3);
  RowErrors errors;
  Evaluator().Eval(sum, chunk, chunk.rows(), errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors.entries()[0].row, 1);
  EXPECT_EQ(errors.entries()[0].position.ToString(), "job.sql, line 1, column 3");
  EXPECT_EQ(errors.entries()[1].row, 2);
  EXPECT_EQ(errors.entries()[1].position.ToString(), "job.sql, line 2, column 3");
  // Constants are evaluated once for all rows.
  RowErrors constant;
  Evaluator().Eval(at(Call("/", {Int(1), Int(0)}), 4), chunk, chunk.rows(), constant);
  ASSERT_EQ(constant.size(), 3u);
  EXPECT_EQ(constant.entries()[2].position.line, 4);
}

TEST(Evaluator, InBatchTheClockOfAQueryStandsStill) {
  EvaluatorOptions options;
  options.now_millis = 5000;
  options.query_start_millis = 1000;
  const auto millis = [&](std::string_view name) {
    return std::get<int64_t>(EvalConstant(Call(name, {}), options)->data) / 1000;
  };
  EXPECT_EQ(millis("CURRENT_TIMESTAMP"), 1000);
  EXPECT_EQ(millis("LOCALTIMESTAMP"), 1000);
  EXPECT_EQ(millis("NOW"), 1000);
  EXPECT_EQ(millis("CURRENT_ROW_TIMESTAMP"), 5000);
  EXPECT_EQ(millis("PROCTIME"), 5000);
  options.query_start_millis.reset();
  EXPECT_EQ(millis("CURRENT_TIMESTAMP"), 5000);
}

TEST(Evaluator, BranchesNotTakenRaiseNoError) {
  const Chunk chunk({Ints({0, 5, std::nullopt})}, 3);
  const Expr a = Expr::Column(0, "a", Type(TypeId::kInt));
  const Expr quotient = Call("/", {Int(10), a});
  EXPECT_EQ(Evaluated(Call("CASE", {Call("=", {a, Int(0)}), Int(0), quotient}), chunk),
            (Texts{"0", "2", "NULL"}));
  EXPECT_EQ(Evaluated(Call("OR", {Call("=", {a, Int(0)}), Call(">", {quotient, Int(1)})}), chunk),
            (Texts{"TRUE", "TRUE", "NULL"}));
  RowErrors errors;
  EXPECT_EQ(Evaluated(quotient, chunk, &errors), (Texts{"NULL", "2", "NULL"}));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.entries()[0].row, 0);
  EXPECT_EQ(errors.entries()[0].message, "division by zero");
}

TEST(Evaluator, RowsThatFailDoNotPassAFilter) {
  const Type decimal = Type::Decimal(10, 2);
  const Chunk chunk({Ints({0, 100, 0}, decimal)}, 3);
  const Expr a = Expr::Column(0, "a", decimal);
  const Expr quotient = Call("/", {Int(10), a});
  for (const Expr& condition :
       {Call("IS NULL", {quotient}), Call(">", {Call("COALESCE", {quotient, Int(5)}), Int(1)}),
        Call(">", {quotient, Int(1)})}) {
    Evaluator evaluator;
    RowErrors errors;
    std::vector<uint16_t> passed;
    evaluator.Filter(condition, chunk, chunk.rows(), errors, &passed);
    EXPECT_EQ(errors.size(), 2u);
    for (const uint16_t row : passed) EXPECT_EQ(row, 1);
  }
}

TEST(Evaluator, DictionaryCodedStringsAreComparedOncePerValue) {
  const Chunk chunk({Coded({"completed", "failed", "pending"}, 4096)}, 4096);
  const Expr status = Expr::Column(0, "status", Type::String());
  Evaluator evaluator;
  RowErrors errors;
  std::vector<uint16_t> passed;
  evaluator.Filter(Call("=", {status, Text("completed")}), chunk, chunk.rows(), errors, &passed);
  EXPECT_EQ(passed.size(), 1366u);
  EXPECT_EQ(passed[1], 3);
  EXPECT_EQ(Evaluated(Cast(status, Type::VarChar(3)), chunk)[4], "'fai'");
}

TEST(Evaluator, DecimalsFollowFlinksPrecision) {
  const auto decimal = [](std::string text, int p, int s) {
    return Cast(Text(std::move(text)), Type::Decimal(p, s));
  };
  const Expr product = Call("*", {decimal("12.34", 18, 2), decimal("5.6", 10, 4)});
  EXPECT_EQ(product.type.ToString(), "DECIMAL(29, 6) NOT NULL");
  EXPECT_EQ(TextOf(product), "69.104000");
  const Expr quotient = Call("/", {decimal("-12.34", 18, 2), decimal("5.6", 10, 4)});
  EXPECT_EQ(quotient.type.ToString(), "DECIMAL(33, 13) NOT NULL");
  EXPECT_EQ(TextOf(quotient), "-2.2035714285714");
  EXPECT_EQ(TextOf(Call("/", {decimal("10000000000000000000", 38, 0), decimal("0.01", 3, 2)})),
            "1000000000000000000000.000000");
  EXPECT_EQ(
      TextOf(Call("*", {decimal("10000000000000000000", 38, 0), decimal("10000000000000000000", 38, 0)})),
      "<NULL>");
  EXPECT_EQ(TextOf(Call("%", {decimal("-7.5", 5, 1), Int(2)})), "-1.5");
  EXPECT_EQ(TextOf(Call("+", {decimal("10", 38, 10), decimal("3", 38, 2)})), "13.000000");
  EXPECT_EQ(TextOf(Call("/", {Int(1), decimal("0", 3, 1)})), "error: division by zero");
}

TEST(Evaluator, IntegersWrapAsInJava) {
  const Type tiny = Type(TypeId::kTinyInt);
  EXPECT_EQ(TextOf(Call("+", {Cast(Int(127), tiny), Cast(Int(1), tiny)})), "-128");
  EXPECT_EQ(TextOf(Call("/", {Int(-2147483648), Int(-1)})), "-2147483648");
  EXPECT_EQ(TextOf(Call("%", {Int(-7), Int(2)})), "-1");
  EXPECT_EQ(TextOf(Call("-", {Int(-2147483648)})), "-2147483648");
  EXPECT_EQ(Call("%", {Cast(Int(7), Type(TypeId::kBigInt)), Int(4)}).type.ToString(), "INT NOT NULL");
}

TEST(Evaluator, Casts) {
  EXPECT_EQ(TextOf(Cast(Text(" 42 "), Type(TypeId::kInt))), "42");
  EXPECT_EQ(TextOf(Cast(Text("abc"), Type(TypeId::kInt))), "error: 'abc' is not a INT");
  EXPECT_EQ(TextOf(Cast(Text("abc"), Type(TypeId::kInt), true)), "<NULL>");
  EXPECT_EQ(TextOf(Cast(Int(300), Type(TypeId::kTinyInt))), "44");
  EXPECT_EQ(TextOf(Cast(Cast(Text("abc"), Type::Char(5)), Type::String())), "abc  ");
  EXPECT_EQ(TextOf(Cast(Int(12345), Type::VarChar(3))), "123");
  EXPECT_EQ(TextOf(Cast(Text("2024-02-29 10:11:12.9999"), Type::Timestamp(3))), "2024-02-29 10:11:12.999");
  EXPECT_EQ(TextOf(Cast(Cast(Text("1969-12-31 23:59:59"), Type::Timestamp(3)), Type(TypeId::kDate))),
            "1970-01-01");
  EXPECT_EQ(TextOf(Cast(Int(1000), Type::Decimal(3, 0))), "<NULL>");
  EXPECT_FALSE(BindCast(Int(1), Type(TypeId::kDate)).ok());
}

TEST(Evaluator, BindingRefusesByName) {
  const Status error = BindCall(*FindScalarFunction("+"), {Int(1), Text("2")}).status();
  EXPECT_EQ(error.message(), "+: argument 2 is CHAR(1), expected a number");
  EXPECT_FALSE(BindCall(*FindScalarFunction("="), {Int(1), Text("1")}).ok());
  EXPECT_FALSE(BindCall(*FindScalarFunction("AND"), {Int(1), Int(1)}).ok());
  EXPECT_FALSE(BindCall(*FindScalarFunction("COALESCE"), {Int(1), Text("1")}).ok());
}

TEST(Evaluator, CommonTypesAreFlinks) {
  const auto common = [](std::vector<Type> types) { return CommonType(types).value().ToString(); };
  EXPECT_EQ(common({Type(TypeId::kInt, false), Type::Decimal(2, 1).WithNullable(false)}),
            "DECIMAL(11, 1) NOT NULL");
  EXPECT_EQ(common({Type::Char(1), Type::Char(3)}), "VARCHAR(3)");
  EXPECT_EQ(common({Type::Char(2), Type::Char(2)}), "CHAR(2)");
  EXPECT_EQ(common({Type(TypeId::kFloat), Type::Decimal(2, 1)}), "DOUBLE");
  EXPECT_EQ(common({Type(TypeId::kInt), Type(TypeId::kBigInt), Type()}), "BIGINT");
  EXPECT_FALSE(CommonType(std::vector<Type>{Type(TypeId::kInt), Type(TypeId::kDate)}).ok());
}

TEST(Evaluator, ZerosOfBothSignsAreOneValueForIn) {
  ColumnBuilder builder{Type(TypeId::kDouble)};
  builder.Append(-0.0);
  const Chunk chunk({builder.Finish()}, 1);
  const Expr a = Expr::Column(0, "a", Type(TypeId::kDouble));
  const Expr zero = Expr::Literal(Type(TypeId::kDouble, false), Value(0.0));
  EXPECT_EQ(Evaluated(Call("IN", {a, zero}), chunk), (Texts{"TRUE"}));
}

TEST(Evaluator, RegularExpressionsBeyondRe2AreRefusedByName) {
  const Status error = BindCall(*FindScalarFunction("REGEXP"), {Text("ab"), Text("a(?=b)")}).status();
  EXPECT_EQ(error.message(),
            "REGEXP: the regular expression 'a(?=b)' cannot be used: invalid perl operator: (?=");
  EXPECT_FALSE(BindCall(*FindScalarFunction("REGEXP_EXTRACT"), {Text("aa"), Text("(a)\\1")}).ok());
}

TEST(Evaluator, ExpressionsOverPartOfAChunk) {
  // Every function sees selected rows only; the others may hold anything.
  const Chunk chunk({Strings({"1", "x", "3", "a rather long text that is not inline"})}, 4);
  const Expr s = Expr::Column(0, "s", Type::String());
  Evaluator evaluator;
  RowErrors errors;
  const std::vector<uint16_t> rows = {2, 0};
  const RowSet set{rows.data(), 2};
  const ColumnPtr numbers = evaluator.Eval(Cast(s, Type(TypeId::kInt)), chunk, set, errors);
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(Column2Text(numbers, set), (Texts{"3", "1"}));
  EXPECT_EQ(Column2Text(evaluator.Eval(Call("UPPER", {s}), chunk, set, errors), set), (Texts{"'3'", "'1'"}));
  const ColumnPtr part = evaluator.Eval(Call("SUBSTRING", {s, Int(3), Int(20)}), chunk, chunk.rows(), errors);
  EXPECT_EQ(Column2Text(part, chunk.rows())[3], "'rather long text tha'");
}

TEST(Evaluator, PrintsAsExplainDoes) {
  const Expr a = Expr::Column(0, "a", Type(TypeId::kInt));
  EXPECT_EQ(Call("AND", {Call(">", {a, Int(1)}), Call("IS NOT NULL", {a})}).ToString(),
            "((a > 1) AND a IS NOT NULL)");
  EXPECT_EQ(Cast(a, Type::String()).ToString(), "CAST(a AS STRING)");
  EXPECT_EQ(Text("it's").ToString(), "'it''s'");
}

}  // namespace
}  // namespace caudal
