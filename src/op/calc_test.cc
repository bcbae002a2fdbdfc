#include "op/calc.h"

#include <gtest/gtest.h>

#include "expr/scalar_function.h"
#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

Expr Call(std::string_view name, std::vector<Expr> args) {
  const ScalarFunction* function = FindScalarFunction(name);
  EXPECT_NE(function, nullptr) << name;
  Result<Expr> call = BindCall(*function, std::move(args));
  EXPECT_TRUE(call.ok()) << call.status().ToString();
  return *call;
}

Expr Number(int64_t value) { return Expr::Literal(Type(TypeId::kBigInt).WithNullable(false), Value(value)); }

std::unique_ptr<OperatorHarness> MakeCalc(CalcNode node, std::string_view output) {
  const Schema input = SchemaLiteral("k STRING, v BIGINT, $clock BIGINT NOT NULL");
  return std::make_unique<OperatorHarness>(
      std::make_unique<Calc>(std::move(node), input, SchemaLiteral(output)), input);
}

Expr K() { return Expr::Column(0, "k", Type::String()); }
Expr V() { return Expr::Column(1, "v", Type(TypeId::kBigInt)); }

TEST(Calc, RowsCountForTheFirstFilterThatStopsThem) {
  CalcNode node;
  node.filters = {{"v > 0", Call(">", {V(), Number(0)})}, {"v < 10", Call("<", {V(), Number(10)})}};
  node.projections = {Call("+", {V(), Number(1)}), K()};
  auto op = MakeCalc(node, "w BIGINT, k STRING, $clock BIGINT NOT NULL");
  EXPECT_EQ(op->Rows("+I | a | 5 | 1\n-U | b | 0 | 2\n+U | c | NULL | 3\n-D | d | 7 | 4\n+I | e | 12 | 5"),
            "+I | 6 | a | 1\n-D | 8 | d | 4\n");
  EXPECT_EQ(*op->fates().Get(Fate::kFiltered, "v > 0"), 2);
  EXPECT_EQ(*op->fates().Get(Fate::kFiltered, "v < 10"), 1);
}

TEST(Calc, RowsThatFailAreDeadAndNotFiltered) {
  CalcNode node;
  node.filters = {{"1 / v > 0", Call(">", {Call("/", {Number(100), V()}), Number(0)})}};
  node.projections = {Call("/", {Number(10), Call("-", {V(), Number(1)})})};
  auto op = MakeCalc(node, "w BIGINT");
  const std::string text = op->Rows("a | 0 | 1\nb | 5 | 2\nc | 1 | 3\nd | -5 | 4");
  EXPECT_EQ(text, "dead{expression} +I | a | 0 | 1\ndead{expression} +I | c | 1 | 3\n+I | 2\n");
  EXPECT_EQ(op->out().messages, (std::vector<std::string>{"condition 1 / v > 0: division by zero",
                                                          "(10 / (v - 1)): division by zero"}));
  EXPECT_EQ(*op->fates().Get(Fate::kFiltered, "1 / v > 0"), 1);
}

TEST(Calc, RowsThatFailSayWhereInTheSqlAndKeepTheirOrigin) {
  CalcNode node;
  node.projections = {Call("/", {Number(10), V()})};
  node.projections[0].position = {.offset = 40, .line = 2, .column = 8};
  auto op = MakeCalc(node, "w BIGINT");
  const Schema input = SchemaLiteral("k STRING, v BIGINT, $clock BIGINT NOT NULL");
  const ChunkOriginPtr origin(new ChunkOrigin{"feed t[0]", "", {7, 8}});
  op->Feed(ChunkLiteral(input, "a | 5 | 1\nb | 0 | 2").WithOrigin(origin));
  EXPECT_EQ(op->out().places, (std::vector<std::string>{"line 2, column 8"}));
  EXPECT_EQ(op->out().rejected_at, (std::vector<std::string>{"feed t[0]@8"}));
  EXPECT_EQ(op->out().origin, origin);
}

TEST(Calc, NothingLeavesWhenNothingIsLeft) {
  CalcNode node;
  node.filters = {{"v > 0", Call(">", {V(), Number(0)})}};
  node.projections = {K()};
  auto op = MakeCalc(node, "k STRING");
  EXPECT_EQ(op->Rows("a | 0 | 1"), "");
  EXPECT_EQ(op->out().chunks, 0);
}

TEST(Calc, SelectionOfTheInputCounts) {
  CalcNode node;
  node.projections = {K()};
  auto op = MakeCalc(node, "k STRING");
  const Schema input = SchemaLiteral("k STRING, v BIGINT, $clock BIGINT NOT NULL");
  const Chunk chunk = ChunkLiteral(input, "a | 1 | 1\nb | 2 | 2\nc | 3 | 3");
  EXPECT_EQ(op->Feed(chunk.WithSelection(SelectionPtr(new Selection{{2, 0}}))), "+I | c\n+I | a\n");
}

}  // namespace
}  // namespace caudal
