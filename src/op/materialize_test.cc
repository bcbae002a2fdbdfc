#include "op/materialize.h"

#include <gtest/gtest.h>

#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

std::unique_ptr<OperatorHarness> MakeMaterialize(bool update_before = false) {
  const Schema schema = SchemaLiteral("k STRING, v BIGINT");
  return std::make_unique<OperatorHarness>(
      std::make_unique<Materialize>(MaterializeNode{{0}, update_before}, schema, schema), schema);
}

TEST(Materialize, SinkSeesOneRowAKey) {
  auto op = MakeMaterialize();
  EXPECT_EQ(op->Rows("+I | a | 1\n-U | a | 1\n+U | a | 2\n+I | b | 1\n-D | b | 1"),
            "+I | a | 1\n-D | a | 1\n+I | a | 2\n+I | b | 1\n-D | b | 1\n");
  EXPECT_EQ(op->StateRows(), 1);
}

// -U and +U of a row that moved between keys upstream arrive in either order.
TEST(Materialize, OrderOfSignsDoesNotMatter) {
  auto op = MakeMaterialize(true);
  EXPECT_EQ(op->Rows("+I | a | 1\n+U | a | 2\n-U | a | 1"), "+I | a | 1\n-U | a | 1\n+U | a | 2\n");
  EXPECT_EQ(op->Rows("-D | a | 3\n+I | a | 3"), "");
  EXPECT_EQ(op->Rows("-U | a | 2"), "-D | a | 2\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(Materialize, RemovalOfTheSeenRowShowsTheOneBefore) {
  auto op = MakeMaterialize();
  op->Rows("+I | a | 1\n+I | a | 2");
  const std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op = MakeMaterialize();
  op->RestoreFrom(history, {});
  EXPECT_EQ(op->Rows("-D | a | 2"), "+U | a | 1\n");
}

// Thousands of rows of one key: every row is found at once, and a step ends when it has taken its time.
TEST(Materialize, ALongKeyIsFoldedInSteps) {
  auto op = MakeMaterialize();
  op->env().tick_micros = 300;
  constexpr int kRows = 4000;
  std::string rows, expected;
  for (int i = 0; i < kRows; ++i) {
    rows += fmt::format("+I | a | {}\n", i);
    expected += fmt::format("{} | a | {}\n", i == 0 ? "+I" : "+U", i);
  }
  EXPECT_EQ(op->Rows(rows), expected);
  EXPECT_GT(op->resumes(), 0);
  const std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op = MakeMaterialize();
  op->RestoreFrom(history, {});
  // From the middle, so that nothing of it is seen; then what is seen.
  rows.clear();
  for (int i = 1; i < kRows - 1; ++i) rows += fmt::format("-D | a | {}\n", (i * 7) % (kRows - 1));
  EXPECT_EQ(op->Rows(rows), "");
  EXPECT_EQ(op->Rows(fmt::format("-D | a | {}", kRows - 1)), "+U | a | 0\n");
  EXPECT_EQ(op->Rows("-D | a | 0"), "-D | a | 0\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(Materialize, EqualRowsCountEach) {
  auto op = MakeMaterialize();
  std::string rows;
  for (int i = 0; i < 100; ++i) rows += "+I | a | 1\n";
  EXPECT_EQ(op->Rows(rows + "+I | a | 2"), "+I | a | 1\n+U | a | 2\n");
  EXPECT_EQ(op->Rows("-D | a | 2"), "+U | a | 1\n");
  rows.clear();
  for (int i = 0; i < 99; ++i) rows += "-D | a | 1\n";
  EXPECT_EQ(op->Rows(rows), "");
  EXPECT_EQ(op->Rows("-D | a | 1\n-D | a | 1\n+I | a | 1"), "-D | a | 1\n");
  EXPECT_EQ(op->StateRows(), 0);
}

}  // namespace
}  // namespace caudal
