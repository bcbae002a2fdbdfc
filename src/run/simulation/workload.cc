#include "run/simulation/workload.h"

#include <algorithm>
#include <random>

#include "data/row_key.h"
#include "expr/aggregate_function.h"

namespace caudal {
namespace {

enum WorkloadColumn { kKey, kAccount, kAmount, kTime, kMark, kKeep, kColumns };

TableColumn Declared(std::string name, Type type) {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  return column;
}

Type BigInt(bool nullable = true) { return Type(TypeId::kBigInt, nullable); }

Table EventsTable() {
  Table table;
  table.name = "events";
  table.columns = {Declared("k", BigInt(false)),         Declared("account", BigInt()),
                   Declared("amount", BigInt()),         Declared("ts", Type::Timestamp(3)),
                   Declared("mark", Type::Timestamp(3)), Declared("keep", Type(TypeId::kBoolean))};
  table.watermark = WatermarkSpec{kTime, Expr::Column(kMark, "mark", Type::Timestamp(3))};
  table.options = {{"connector", "simulated-source"}};
  return table;
}

Table SinkTable(const std::string& name, const std::string& connector, std::vector<TableColumn> columns) {
  Table table;
  table.name = name;
  table.columns = std::move(columns);
  table.options = {{"connector", connector}};
  return table;
}

void AddHidden(Schema* schema) {
  schema->fields.push_back({std::string(kClockColumn), BigInt(false)});
  schema->fields.push_back({std::string(kSplitColumn), Type(TypeId::kInt, false)});
  schema->fields.push_back({std::string(kOffsetColumn), BigInt(false)});
}

AggregateCall Call(const std::string& name, std::vector<int> args) {
  AggregateCall call;
  call.function = FindAggregateFunction(name);
  call.name = name;
  call.args = std::move(args);
  call.result = name == "COUNT" ? BigInt(false) : BigInt();
  return call;
}

}  // namespace

Workload::Workload(uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ull + 1);
  splits_.resize(2 + random() % 2);
  const size_t rows = 200 + random() % 60;
  std::vector<int64_t> now(splits_.size());
  for (size_t i = 0; i < rows; ++i) {
    const size_t split = random() % splits_.size();
    std::vector<SimulatedEvent>& events = splits_[split];
    SimulatedEvent event;
    now[split] += static_cast<int64_t>(random() % 1200);
    // Out of order by up to twice the watermark's delay: about one row in ten is late.
    const int64_t jitter = random() % 3 == 0 ? static_cast<int64_t>(random() % (2 * kDelay)) : 0;
    event.time = 10'000 + now[split] - jitter;
    event.key = static_cast<int64_t>(i * 8 + split);  // keys of different splits differ
    if (!events.empty() && random() % 6 == 0) event.key = events[random() % events.size()].key;
    event.account = static_cast<int64_t>(random() % 5);
    event.amount = static_cast<int64_t>(random() % 1000);
    event.keep = random() % 10 != 0;
    event.malformed = random() % 40 == 0;
    event.no_key = random() % 40 == 0;
    events.push_back(event);
  }
}

int64_t Workload::ClassNumber(std::string_view error_class) {
  return static_cast<int64_t>(RowKeys::Hash(error_class) >> 1);
}

void Workload::ExpectSplit(size_t split, Expectation* expected,
                           std::map<std::pair<int64_t, int64_t>, SimulatedRow>* windows) const {
  std::map<int64_t, int64_t> first_seen;
  int64_t clock = INT64_MIN;
  for (size_t offset = 0; offset < splits_[split].size(); ++offset) {
    const SimulatedEvent& event = splits_[split][offset];
    auto dead = [&](const std::string& node, const std::string& fate, const std::string& name) {
      ++expected->fates[node + "/" + fate + "/" + name];
      expected->dead.push_back({ClassNumber(fate == "late" ? fate : name), static_cast<int64_t>(split),
                                static_cast<int64_t>(offset), 0});
    };
    if (event.malformed) {
      dead("events", "dead", "malformed");
      continue;
    }
    if (event.no_key) {
      dead("events", "dead", "contract");
      continue;
    }
    const int64_t before = clock;
    clock = std::max(clock, event.time - kDelay);
    if (!event.keep) {
      ++expected->fates["calc/filtered/keep"];
      continue;
    }

    if (event.time <= before) {
      dead("dedup", "late", "watermark");
    } else if (auto seen = first_seen.find(event.key);
               seen != first_seen.end() && before < seen->second + kRetain) {
      ++expected->fates["dedup/duplicate/"];
    } else {
      first_seen[event.key] = event.time;
      ++expected->fates["rows/published/"];
      expected->rows.push_back({event.key, event.account, event.amount, event.time});
    }

    bool counted = false;
    const int64_t first_end = (event.time / kSlide + 1) * kSlide;
    for (int64_t end = first_end; end < first_end + kSize; end += kSlide) {
      if (before >= end - 1) continue;
      counted = true;
      SimulatedRow& window = (*windows)[{event.account, end}];
      window = {event.account, window[1] + 1, window[2] + event.amount, end};
    }
    if (counted) {
      ++expected->fates["features/absorbed/Aggregate"];
    } else {
      dead("features", "late", "watermark");
    }
  }
}

Expectation Workload::Expect() const {
  Expectation expected;
  std::map<std::pair<int64_t, int64_t>, SimulatedRow> windows;
  for (size_t split = 0; split < splits_.size(); ++split) ExpectSplit(split, &expected, &windows);
  for (const auto& [key, row] : windows) expected.windows.push_back(row);
  expected.fates["windows/published/"] = static_cast<int64_t>(expected.windows.size());
  expected.fates["dead-letter/published/"] = static_cast<int64_t>(expected.dead.size());
  std::sort(expected.rows.begin(), expected.rows.end());
  std::sort(expected.windows.begin(), expected.windows.end());
  std::sort(expected.dead.begin(), expected.dead.end());
  return expected;
}

Plan Workload::MakePlan(int parallelism, bool batch) const {
  const Exchange::Kind by_key = parallelism > 1 ? Exchange::Kind::kHash : Exchange::Kind::kChain;
  Plan plan;
  plan.query = "simulated";
  plan.parallelism = parallelism;
  plan.batch = batch;
  plan.settings = {{"execution.checkpointing.interval", "12 ms"}};

  PlanNode scan;
  scan.id = "events";
  scan.time_column = kTime;
  ScanNode events;
  events.table = EventsTable();
  events.columns = {kKey, kAccount, kAmount, kTime, kKeep};
  for (int column : events.columns) {
    const TableColumn& declared = events.table.columns[static_cast<size_t>(column)];
    scan.schema.fields.push_back({declared.name, declared.type});
  }
  AddHidden(&scan.schema);
  scan.payload = std::move(events);

  PlanNode calc;
  calc.id = "calc";
  calc.inputs = {{0, {}}};
  CalcNode keep;
  keep.filters = {{"keep", Expr::Column(4, "keep", Type(TypeId::kBoolean))}};
  for (int i = 0; i < 4; ++i) {
    keep.projections.push_back(Expr::Column(i, scan.schema[i].name, scan.schema[i].type));
    calc.schema.fields.push_back(scan.schema[i]);
  }
  AddHidden(&calc.schema);
  calc.payload = std::move(keep);

  PlanNode dedup;
  dedup.id = "dedup";
  dedup.inputs = {{1, {by_key, {0}}}};
  dedup.schema = calc.schema;
  dedup.payload = DeduplicateNode{{0}, 3, 4, kRetain};

  PlanNode rows;
  rows.id = "rows";
  rows.inputs = {{2, {}}};
  rows.payload = SinkNode{SinkTable("rows", "simulated-ledger",
                                    {Declared("k", BigInt(false)), Declared("account", BigInt()),
                                     Declared("amount", BigInt()), Declared("ts", Type::Timestamp(3))}),
                          {}};

  PlanNode features;
  features.id = "features";
  features.inputs = {{1, {by_key, {1}}}};
  features.schema.fields = {
      {"account", BigInt()}, {"n", BigInt(false)}, {"total", BigInt()}, {"window_end", Type::Timestamp(3)}};
  AggregateNode aggregate;
  aggregate.keys = {1};
  aggregate.calls = {Call("COUNT", {2}), Call("SUM", {2})};
  aggregate.windowed = true;
  aggregate.window = {kSize, kSlide, 0, 3, false};
  aggregate.window_columns = {AggregateNode::WindowColumn::kEnd};
  aggregate.emit = AggregateNode::Emit::kOnWatermark;
  features.payload = std::move(aggregate);

  PlanNode windows;
  windows.id = "windows";
  windows.inputs = {{4, {}}};
  windows.payload =
      SinkNode{SinkTable("windows", "simulated-files",
                         {Declared("account", BigInt()), Declared("n", BigInt(false)),
                          Declared("total", BigInt()), Declared("window_end", Type::Timestamp(3))}),
               {}};
  plan.nodes = {scan, calc, dedup, rows, features, windows};
  plan.dead_letter =
      DeadLetter{SinkTable("dead", "simulated-ledger",
                           {Declared("error_class", Type::String()), Declared("split", Type(TypeId::kInt)),
                            Declared("offset", BigInt())})};
  return plan;
}

}  // namespace caudal
