// What expressions and aggregates cost a row, over chunks of 4,096.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "data/column_builder.h"
#include "data/string_dictionary.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "expr/aggregate_function.h"
#include "expr/evaluator.h"
#include "expr/scalar_function.h"

namespace caudal {
namespace {

constexpr int32_t kRows = Chunk::kMaxRows;

ColumnPtr Statuses() {
  auto* writer = new StringDictionary(1);
  const StringDictionaryPtr dictionary(writer);
  for (const char* status : {"completed", "pending", "failed", "reversed"}) writer->Append(status);
  auto codes = Buffer::Allocate(kRows * sizeof(int32_t));
  for (int32_t i = 0; i < kRows; ++i) codes->mutable_as<int32_t>()[i] = i * 7 % 10 < 7 ? 0 : i % 4;
  return Column::Dictionary(Type::String(), kRows, codes, nullptr, dictionary, dictionary->size());
}

ColumnPtr Amounts() {
  ColumnBuilder builder(Type::Decimal(18, 2), kRows);
  for (int32_t i = 0; i < kRows; ++i) builder.Append(int64_t{i} * 7919 % 1'000'000 - 1000);
  return builder.Finish();
}

ColumnPtr Names() {
  ColumnBuilder builder(Type::String(), kRows);
  for (int32_t i = 0; i < kRows; ++i) builder.AppendString("merchant-" + std::to_string(i * 31 % 5000));
  return builder.Finish();
}

// Of one hour, as the rows of a chunk mostly are.
ColumnPtr Times() {
  ColumnBuilder builder(Type::Timestamp(3), kRows);
  for (int32_t i = 0; i < kRows; ++i)
    builder.Append(int64_t{1'772'370'000'000} + int64_t{i} * 7919 % 3'600'000);
  return builder.Finish();
}

Expr Call(std::string_view name, std::vector<Expr> args) {
  return BindCall(*FindScalarFunction(name), std::move(args)).value();
}

void BenchExpressions() {
  const Chunk chunk({Statuses(), Amounts(), Names(), Times()}, kRows);
  const Expr status = Expr::Column(0, "status", Type::String());
  const Expr amount = Expr::Column(1, "amount", Type::Decimal(18, 2));
  const Expr name = Expr::Column(2, "name", Type::String());
  const Expr time = Expr::Column(3, "time", Type::Timestamp(3));
  const Expr hour = Expr::Literal(Type::Char(2).WithNullable(false), Value(std::string("HH")));
  const Expr completed = Expr::Literal(Type::Char(9).WithNullable(false), Value(std::string("completed")));
  const Expr zero = Expr::Literal(Type(TypeId::kInt, false), Value(int64_t{0}));
  const Expr positive = Call(">", {amount, zero});
  const Expr both = Call("AND", {Call("=", {status, completed}), positive});
  Evaluator evaluator;
  RowErrors errors;
  std::vector<uint16_t> passed;
  const auto filter = [&](const char* label, const Expr& expr) {
    Measure(label, kRows, [&] { evaluator.Filter(expr, chunk, chunk.rows(), errors, &passed); });
  };
  const auto eval = [&](const char* label, const Expr& expr) {
    Measure(label, kRows, [&] { evaluator.Eval(expr, chunk, chunk.rows(), errors); });
  };
  filter("filter status = 'completed' (dictionary)", Call("=", {status, completed}));
  filter("filter amount > 0", positive);
  filter("filter both", both);
  eval("amount + amount", Call("+", {amount, amount}));
  eval("amount * amount", Call("*", {amount, amount}));
  eval("CAST(amount AS STRING)", BindCast(amount, Type::String()).value());
  eval("UPPER(name)", Call("UPPER", {name}));
  eval("DATE_FORMAT(time, 'HH') in one hour", Call("DATE_FORMAT", {time, hour}));
  eval("CASE WHEN amount > 0 THEN amount ELSE -amount END",
       Call("CASE", {positive, amount, Call("-", {amount})}));
}

void BenchAggregate(const char* label, std::string_view function, const ColumnPtr& column) {
  const std::vector<Type> types = {column->type()};
  const auto aggregator = FindAggregateFunction(function)->bind(types, false, false).value();
  constexpr size_t kKeys = 1024;
  const size_t width = static_cast<size_t>(aggregator->width());
  char* memory = static_cast<char*>(std::calloc(kKeys, width));
  std::vector<char*> targets;
  for (size_t i = 0; i < kKeys; ++i) aggregator->Init(memory + i * width);
  for (int32_t i = 0; i < kRows; ++i)
    targets.push_back(memory + static_cast<size_t>(i) * 131 % kKeys * width);
  Measure(label, kRows, [&] {
    aggregator->Add(targets.data(), std::span<const ColumnPtr>(&column, 1), RowSet{nullptr, kRows});
  });
  for (size_t i = 0; i < kKeys; ++i) aggregator->Destroy(memory + i * width);
  std::free(memory);
}

// The life of the sketches of a window's panes: made, each given ten values, dropped. A row at a time is what
// is counted.
void BenchPanes(const char* label, const ColumnPtr& column) {
  const std::vector<Type> types = {column->type()};
  const auto aggregator = FindAggregateFunction("APPROX_COUNT_DISTINCT")->bind(types, false, false).value();
  constexpr size_t kPanes = kRows / 10 + 1;
  const size_t width = static_cast<size_t>(aggregator->width());
  std::vector<char> memory(kPanes * width);
  std::vector<char*> targets;
  for (size_t i = 0; i < kRows; ++i) targets.push_back(memory.data() + i * 131 % kPanes * width);
  Measure(label, kRows, [&] {
    for (size_t i = 0; i < kPanes; ++i) aggregator->Init(memory.data() + i * width);
    aggregator->Add(targets.data(), std::span<const ColumnPtr>(&column, 1), RowSet{nullptr, kRows});
    for (size_t i = 0; i < kPanes; ++i) aggregator->Destroy(memory.data() + i * width);
  });
}

void BenchText() {
  std::string time = "2024-02-29 10:11:12.123";
  std::string number = "12345.67";
  int64_t value = 0;
  int64_t sum = 0;
  Measure("parse TIMESTAMP(3)", kRows, [&] {
    for (int32_t i = 0; i < kRows; ++i) {
      time[18] = static_cast<char>('0' + i % 10);
      ParseTimestamp(time, 3, &value);
      sum += value;
    }
  });
  Measure("parse DECIMAL(18, 2)", kRows, [&] {
    for (int32_t i = 0; i < kRows; ++i) {
      number[0] = static_cast<char>('0' + i % 10);
      ParseDecimal64(number, 18, 2, &value);
      sum += value;
    }
  });
  if (sum == 1) std::printf("\n");
}

}  // namespace
}  // namespace caudal

int main() {
  caudal::BenchText();
  caudal::BenchExpressions();
  caudal::BenchAggregate("COUNT", "COUNT", caudal::Amounts());
  caudal::BenchAggregate("SUM of DECIMAL(18, 2)", "SUM", caudal::Amounts());
  caudal::BenchAggregate("MAX of DECIMAL(18, 2)", "MAX", caudal::Amounts());
  caudal::BenchAggregate("APPROX_COUNT_DISTINCT of names", "APPROX_COUNT_DISTINCT", caudal::Names());
  caudal::BenchPanes("APPROX_COUNT_DISTINCT of ten names a pane", caudal::Names());
  return 0;
}
