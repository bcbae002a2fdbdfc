#include "op/materialize.h"

#include <gtest/gtest.h>

#include "op/testing/operator_harness.h"

namespace caudal {
namespace {

std::unique_ptr<OperatorHarness> Make(bool update_before = false) {
  const Schema schema = SchemaLiteral("k STRING, v BIGINT");
  return std::make_unique<OperatorHarness>(
      std::make_unique<Materialize>(MaterializeNode{{0}, update_before}, schema, schema), schema);
}

TEST(Materialize, SinkSeesOneRowAKey) {
  auto op = Make();
  EXPECT_EQ(op->Rows("+I | a | 1\n-U | a | 1\n+U | a | 2\n+I | b | 1\n-D | b | 1"),
            "+I | a | 1\n-D | a | 1\n+I | a | 2\n+I | b | 1\n-D | b | 1\n");
  EXPECT_EQ(op->StateRows(), 1);
}

// -U and +U of a row that moved between keys upstream arrive in either order.
TEST(Materialize, OrderOfSignsDoesNotMatter) {
  auto op = Make(true);
  EXPECT_EQ(op->Rows("+I | a | 1\n+U | a | 2\n-U | a | 1"), "+I | a | 1\n-U | a | 1\n+U | a | 2\n");
  EXPECT_EQ(op->Rows("-D | a | 3\n+I | a | 3"), "");
  EXPECT_EQ(op->Rows("-U | a | 2"), "-D | a | 2\n");
  EXPECT_EQ(op->StateRows(), 0);
}

TEST(Materialize, RemovalOfTheSeenRowShowsTheOneBefore) {
  auto op = Make();
  op->Rows("+I | a | 1\n+I | a | 2");
  const std::vector<std::vector<std::string>> history = {op->Snapshot()};
  op = Make();
  op->RestoreFrom(history, {});
  EXPECT_EQ(op->Rows("-D | a | 2"), "+U | a | 1\n");
}

}  // namespace
}  // namespace caudal
