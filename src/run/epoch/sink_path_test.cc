#include "run/epoch/sink_path.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

PlanNode Node(std::string id, std::vector<int> inputs, bool scan = false, bool sink = false) {
  PlanNode node;
  node.id = std::move(id);
  for (const int input : inputs) node.inputs.push_back({input, {}});
  node.payload = CalcNode{};
  if (scan) node.payload = ScanNode{};
  if (sink) node.payload = SinkNode{};
  return node;
}

NodeState Counted(std::string id, int64_t rows_out, std::vector<CountedFate> fates) {
  NodeState state;
  state.id = std::move(id);
  state.rows_out = rows_out;
  state.fates = std::move(fates);
  return state;
}

// SELECT … WHERE ok UNION ALL SELECT … WHERE NOT ok, both from one table of five rows.
TEST(SinkPath, ARowThatComesInTwoWaysHasAFateOnEach) {
  Plan plan;
  plan.nodes = {Node("t", {}, /*scan=*/true), Node("ok", {0}), Node("not-ok", {0}), Node("all", {1, 2}),
                Node("out", {3}, false, /*sink=*/true)};
  const std::vector<NodeState> nodes = {Counted("t", 4, {{"dead", "malformed", 1}}),
                                        Counted("ok", 3, {{"filtered", "ok", 1}}),
                                        Counted("not-ok", 1, {{"filtered", "not-ok", 3}}),
                                        Counted("all", 4, {}), Counted("out", 0, {{"published", "", 4}})};
  const std::vector<SinkPath> paths = FindSinkPaths(plan, nodes);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].rows_read, 10);
  EXPECT_EQ(paths[0].Rows("dead"), 2);
  EXPECT_EQ(paths[0].rows_unaccounted, 0);
  EXPECT_EQ(paths[0].nodes, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace caudal
