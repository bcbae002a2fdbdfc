// What the stateful operators of the demo pay: deduplication a row, panes a row, a firing a (account,
// window); beside each the budget of the whole job for it. Inputs are fixed; figures are medians of rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "data/column_builder.h"
#include "op/deduplicate.h"
#include "op/windowed_aggregate.h"

namespace caudal {
namespace {

constexpr int32_t kRows = Chunk::kMaxRows;
constexpr int64_t kMinute = 60'000;

// Nanoseconds, out of what a million events a second on two cores leave a stage.
constexpr int kDeduplicateBudget = 20;
constexpr int kRestoreBudget = 150;  // ten million keys in 1.5 s
constexpr int kPaneBudget = 40;
constexpr int kSnapshotBudget = 100;  // two million panes in 10 s: 2 % of a core
constexpr int kFiringBudget = 65;     // as much as making and writing the row

// Counts what leaves and drops it.
class NullOutput : public Output {
 public:
  void Emit(Chunk chunk) override { rows += chunk.size(); }
  void Reject(const Chunk& chunk, Rejection rejection) override {}
  bool full() const override { return false; }
  int64_t rows = 0;
};

struct Bench {
  Bench() {
    context.env = Env::Real();
    context.budget = &budget;
    context.fates = &fates;
  }
  MemoryBudget budget{"bench", 0};
  FateCounters fates;
  OperatorContext context;
  NullOutput out;

  void Open(Operator& op) {
    if (!op.Open(context).ok()) std::abort();
  }
  void Feed(Operator& op, const Chunk& chunk) {
    if (!op.OnChunk(0, chunk, out).ok()) std::abort();
  }
  void Advance(Operator& op, int64_t event) {
    Result<Progress> progress = op.OnWatermark({event, 0}, out);
    while (progress.ok() && *progress == Progress::kMore) progress = op.Resume(out);
  }
};

constexpr int64_t kMillisAMillion = 300'000;  // of event time, of MakeEvents

uint64_t Mix(uint64_t n) {
  n = (n ^ n >> 31) * 0x9e3779b97f4a7c15u;
  return (n ^ n >> 29) * 0xbf58476d1ce4e5b9u;
}

// id STRING, ts TIMESTAMP(3), $clock BIGINT; ids are UUIDs, each once, in five minutes of event time a
// million.
Chunk MakeEventChunk(int64_t first) {
  ColumnBuilder ids(Type::String(), kRows), times(Type::Timestamp(3), kRows),
      clocks(Type(TypeId::kBigInt), kRows);
  for (int64_t i = first; i < first + kRows; ++i) {
    const uint64_t a = Mix(static_cast<uint64_t>(i)), b = Mix(a);
    ids.AppendString(fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff,
                                 a & 0xfff, b >> 52, b & 0xffffffffffffu));
    const int64_t time = i * kMillisAMillion / 1'000'000;
    times.Append(time * 1000);
    clocks.Append(time - kMillisAMillion);
  }
  return Chunk({ids.Finish(), times.Finish(), clocks.Finish()}, kRows);
}

std::vector<Chunk> MakeEvents(int64_t rows) {
  std::vector<Chunk> chunks;
  for (int64_t first = 0; first < rows; first += kRows) chunks.push_back(MakeEventChunk(first));
  return chunks;
}

Schema EventSchema() {
  return {{{"id", Type::String()}, {"ts", Type::Timestamp(3)}, {"$clock", Type(TypeId::kBigInt)}}};
}

void MeasureDeduplicate(int64_t rows) {
  const std::vector<Chunk> chunks = MakeEvents(rows);
  const Schema schema = EventSchema();
  const std::string name =
      fmt::format("deduplicate: {} k new ids (budget {})", rows / 1000, kDeduplicateBudget);
  Measure(name.c_str(), rows, [&] {
    Bench bench;
    Deduplicate op({{0}, 1, 2, 300'000}, schema, false);
    bench.Open(op);
    for (size_t c = 0; c < chunks.size(); ++c) {
      bench.Feed(op, chunks[c]);
      if (c % 8 == 0) bench.Advance(op, static_cast<int64_t>(c) * kRows * 300'000 / 1'000'000 - 300'000);
    }
  });
}

// What a checkpoint costs that has many live ids behind it: some `keys` are there, at a steady rate, and
// written; a million are new.
void MeasureCheckpoint(int64_t keys) {
  Bench bench;
  Deduplicate op({{0}, 1, 2, keys * kMillisAMillion / 1'000'000}, EventSchema(), false);
  bench.Open(op);
  StateTable* table = op.state()[0];
  int64_t longest = 0, all = 0, bytes = 0;
  const auto write = [&] {
    longest = all = bytes = 0;
    for (;;) {
      const int64_t start = ThreadCpuNanoseconds();
      const std::string segment = table->NextSegment(StateTable::SnapshotKind::kDelta);
      const int64_t took = ThreadCpuNanoseconds() - start;
      longest = std::max(longest, took);
      all += took;
      bytes += static_cast<int64_t>(segment.size());
      if (segment.empty()) return;
    }
  };
  int64_t fed = 0;
  const auto feed = [&](int64_t until) {
    for (; fed < until; fed += kRows) {
      bench.Feed(op, MakeEventChunk(fed));
      bench.Advance(op, fed * kMillisAMillion / 1'000'000 - kMillisAMillion);
      if (fed % (1'000 * kRows) == 0) write();
    }
  };
  feed(3 * keys);
  write();
  feed(3 * keys + 1'000'000);
  write();
  std::printf(
      "checkpoint: %.1f M live ids, %.1f bytes of memory each; of a million new ones %.1f MB, %.1f ms of "
      "CPU, "
      "longest step %.1f ms\n",
      static_cast<double>(table->rows()) / 1e6,
      static_cast<double>(table->bytes()) / static_cast<double>(table->rows()),
      static_cast<double>(bytes) / 1e6, static_cast<double>(all) / 1e6, static_cast<double>(longest) / 1e6);
  std::fflush(stdout);
}

// A restart, from the snapshot of a query that has forgotten three of four rows: its generations are as large
// from the beginning as those before have told, those that are filled from the snapshot begin small.
void MeasureRestore(int64_t rows) {
  const Schema schema = EventSchema();
  const int64_t millis = rows * 300'000 / 1'000'000;
  const DeduplicateNode node{{0}, 1, 2, millis / 4};
  Bench bench;
  Deduplicate before(node, schema, false);
  bench.Open(before);
  int64_t fed = 0;
  for (const Chunk& chunk : MakeEvents(rows)) {
    bench.Feed(before, chunk);
    fed += kRows;
    bench.Advance(before, fed * 300'000 / 1'000'000);
  }
  StateTable* keys = before.state()[0];
  std::vector<std::string> segments;
  do {
    segments.push_back(keys->NextSegment(StateTable::SnapshotKind::kFull));
  } while (!segments.back().empty());
  segments.pop_back();
  const std::string name =
      fmt::format("restore: ids of a quarter of {} k rows (budget {})", rows / 1000, kRestoreBudget);
  Measure(name.c_str(), keys->rows(), [&] {
    Deduplicate after(node, schema, false);
    bench.Open(after);
    if (!after.state()[0]->Restore(segments, {}).ok()) std::abort();
  });
}

// account STRING, merchant STRING, amount DECIMAL(18, 2), ts TIMESTAMP(3), $clock BIGINT: of any minute;
// every account is there in each.
std::vector<Chunk> MakePayments(int64_t accounts, int64_t rows) {
  std::vector<Chunk> chunks;
  for (int64_t first = 0; first < rows; first += kRows) {
    ColumnBuilder account(Type::String(), kRows), merchant(Type::String(), kRows),
        amount(Type::Decimal(18, 2), kRows);
    for (int64_t i = first; i < first + kRows; ++i) {
      const uint64_t random = Mix(static_cast<uint64_t>(i));
      account.AppendString(fmt::format("ACC-{:06d}", i * 7919 % accounts));
      merchant.AppendString(fmt::format("M-{:05d}", random % 20'000));
      amount.Append(static_cast<int64_t>(random >> 40));
    }
    chunks.emplace_back(std::vector<ColumnPtr>{account.Finish(), merchant.Finish(), amount.Finish()}, kRows);
  }
  return chunks;
}

Chunk InMinute(const Chunk& chunk, int64_t minute) {
  // Other accounts in other minutes, in an order of their own.
  std::vector<uint16_t> order;
  for (int32_t i = 0; i < kRows; ++i)
    order.push_back(static_cast<uint16_t>((i * 2731 + minute * 977) % kRows));
  ColumnBuilder time(Type::Timestamp(3), kRows);
  for (int64_t i = 0; i < kRows; ++i) time.Append((minute * kMinute + i * 10) * 1000);
  std::vector<ColumnPtr> columns;
  for (const ColumnPtr& column : chunk.columns()) columns.push_back(CopyRows(*column, order.data(), kRows));
  columns.push_back(time.Finish());
  columns.push_back(ConstantColumn(Type(TypeId::kBigInt), Value((minute - 5) * kMinute), kRows));
  return chunk.WithColumns(std::move(columns));
}

AggregateCall Call(const char* name, std::vector<int> args, Type result) {
  AggregateCall call;
  call.function = FindAggregateFunction(name);
  call.name = name;
  call.args = std::move(args);
  call.result = std::move(result);
  return call;
}

void PrintMedian(int64_t accounts, const char* what, const char* unit, int budget,
                 std::vector<double> nanos) {
  std::sort(nanos.begin(), nanos.end());
  std::printf("windows: %6lld accounts: %-22s %10.1f ns %s (best %.1f, budget %d)\n",
              static_cast<long long>(accounts), what, nanos[nanos.size() / 2], unit, nanos.front(), budget);
}

// Of all panes, a pane.
double NanosOfASnapshot(WindowedAggregate& op) {
  const int64_t start = ThreadCpuNanoseconds();
  StateTable* panes = op.state()[0];
  int64_t bytes = 0;
  for (;;) {
    const std::string segment = panes->NextSegment(StateTable::SnapshotKind::kFull);
    if (segment.empty()) break;
    bytes += static_cast<int64_t>(segment.size());
  }
  KeepResult(bytes);
  return static_cast<double>(ThreadCpuNanoseconds() - start) / static_cast<double>(panes->rows());
}

// One hour by one minute per account: count, average, approximate distinct merchants.
void MeasureWindows(int64_t accounts, int64_t rows_a_minute) {
  const Schema input{{{"account", Type::String()},
                      {"merchant", Type::String()},
                      {"amount", Type::Decimal(18, 2)},
                      {"ts", Type::Timestamp(3)},
                      {"$clock", Type(TypeId::kBigInt)}}};
  const Type bigint = Type(TypeId::kBigInt);
  const Schema output{{{"account", Type::String()},
                       {"n", bigint},
                       {"mean", Type::Decimal(38, 6)},
                       {"merchants", bigint},
                       {"window_end", Type::Timestamp(3)}}};
  AggregateNode node;
  node.keys = {0};
  node.calls = {Call("COUNT", {}, bigint), Call("AVG", {2}, Type::Decimal(38, 6)),
                Call("APPROX_COUNT_DISTINCT", {1}, bigint)};
  node.windowed = true;
  node.window = {60 * kMinute, kMinute, 0, 3, false};
  node.window_columns = {AggregateNode::WindowColumn::kEnd};
  node.emit = AggregateNode::Emit::kOnWatermark;

  Result<std::unique_ptr<AccumulatorRow>> accumulators = AccumulatorRow::Make(node.calls, input, false);
  if (!accumulators.ok()) std::abort();
  WindowedAggregate op(node, input, output, std::move(accumulators).value(), false);
  Bench bench;
  bench.Open(op);
  std::vector<double> update_nanos, fire_nanos;  // a row, a minute of event time each
  std::vector<double> snapshot_nanos;            // a pane, ten minutes of event time each
  const std::vector<Chunk> payments = MakePayments(accounts, 64 * kRows);
  const size_t chunks_a_minute = static_cast<size_t>(rows_a_minute / kRows);
  size_t next = 0;
  for (int64_t minute = 0; minute < 121; ++minute) {
    int64_t updating = 0;
    for (size_t c = 0; c < chunks_a_minute; ++c) {
      const Chunk now = InMinute(payments[next++ % payments.size()], minute);
      const int64_t start = ThreadCpuNanoseconds();
      bench.Feed(op, now);
      updating += ThreadCpuNanoseconds() - start;
    }
    const int64_t before = bench.out.rows;
    const int64_t start = ThreadCpuNanoseconds();
    bench.Advance(op, minute * kMinute - 1);
    if (minute < 61) continue;
    update_nanos.push_back(static_cast<double>(updating) / static_cast<double>(rows_a_minute));
    fire_nanos.push_back(static_cast<double>(ThreadCpuNanoseconds() - start) /
                         static_cast<double>(bench.out.rows - before));
    if (minute % 10 == 0) snapshot_nanos.push_back(NanosOfASnapshot(op));
  }
  PrintMedian(accounts, "pane update", "a row", kPaneBudget, std::move(update_nanos));
  PrintMedian(accounts, "firing of 1 h by 1 min", "an (account, window)", kFiringBudget,
              std::move(fire_nanos));
  PrintMedian(accounts, "snapshot", "a pane", kSnapshotBudget, std::move(snapshot_nanos));
  const StateTable* panes = op.state()[0];
  std::printf("windows: %6lld accounts: state                  %10.1f MB in %lld panes, of %.1f bytes each\n",
              static_cast<long long>(accounts), static_cast<double>(bench.budget.used()) / 1e6,
              static_cast<long long>(panes->rows()),
              static_cast<double>(panes->bytes()) / static_cast<double>(panes->rows()));
}

void Run(std::string_view only, int64_t keys) {
  if (only == "checkpoint") return MeasureCheckpoint(keys);
  if (only == "" || only == "deduplicate") {
    MeasureDeduplicate(1 << 20);
    MeasureDeduplicate(1 << 22);
    MeasureRestore(1 << 21);
    MeasureRestore(1 << 23);
  }
  if (only == "deduplicate") return;
  if (only != "demo") MeasureWindows(1'000, 4 * kRows);
  MeasureWindows(10'000, kRows);  // sparse: a pane in two minutes of five
  if (only != "demo") MeasureWindows(50'000, 13 * kRows);
}

}  // namespace
}  // namespace caudal

// An argument, "deduplicate" or "windows", leaves out the rest; "checkpoint N" has N ids behind it.
int main(int argc, char** argv) {
  caudal::Run(argc > 1 ? argv[1] : "", argc > 2 ? std::atoll(argv[2]) : 10'000'000);
  return 0;
}
