// A small plan for tests of jobs: clicks(k BIGINT NOT NULL, ts TIMESTAMP(3)) → DEDUPLICATE BY k → out(k, ts),
// from the feed connector to the collect connector.
#pragma once

#include <string>
#include <utility>

#include "api/plan.h"
#include "expr/aggregate_function.h"

namespace caudal {

inline TableColumn DeclaredColumn(std::string name, Type type) {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  return column;
}

// COUNT(ts) of each k.
inline AggregateNode CountByKey() {
  AggregateNode count;
  count.keys = {0};
  AggregateCall call;
  call.function = FindAggregateFunction("COUNT");
  call.name = "COUNT";
  call.args = {1};
  call.result = Type(TypeId::kBigInt, false);
  count.calls = {call};
  return count;
}

inline Plan ClicksPlan(int parallelism, int64_t retain = 60'000,
                       const std::string& operator_id = "out/dedup/1") {
  Plan plan;
  plan.query = "out";
  plan.parallelism = parallelism;
  Table clicks;
  clicks.name = "clicks";
  clicks.columns = {DeclaredColumn("k", Type(TypeId::kBigInt, false)),
                    DeclaredColumn("ts", Type::Timestamp(3))};
  clicks.watermark = WatermarkSpec{1, Expr::Column(1, "ts", Type::Timestamp(3))};
  clicks.options = {{"connector", "feed"}, {"caudal.max-future-skew", "0 s"}};
  PlanNode scan;
  scan.id = "clicks";
  scan.schema.fields = {{"k", Type(TypeId::kBigInt, false)},
                        {"ts", Type::Timestamp(3)},
                        {std::string(kClockColumn), Type(TypeId::kBigInt, false)}};
  ScanNode payload;
  payload.table = clicks;
  payload.columns = {0, 1};
  scan.payload = payload;
  PlanNode dedup;
  dedup.id = operator_id;
  dedup.schema = scan.schema;
  dedup.inputs = {{0, {parallelism > 1 ? Exchange::Kind::kHash : Exchange::Kind::kChain, {0}}}};
  dedup.payload = DeduplicateNode{{0}, 1, 2, retain};
  PlanNode sink;
  sink.id = "out";
  sink.inputs = {{1, {}}};
  Table out;
  out.name = "out";
  out.columns = {DeclaredColumn("k", Type(TypeId::kBigInt, false)), DeclaredColumn("ts", Type::Timestamp(3))};
  out.options = {{"connector", "collect"}};
  sink.payload = SinkNode{out, {}};
  plan.nodes = {scan, dedup, sink};
  return plan;
}

}  // namespace caudal
