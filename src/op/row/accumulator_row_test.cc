#include "op/row/accumulator_row.h"

#include <gtest/gtest.h>

#include "data/column_builder.h"

namespace caudal {
namespace {

const Schema kInput{{{"x", Type(TypeId::kBigInt)}}};

AggregateCall Call(const char* name, std::vector<int> args, bool distinct = false) {
  AggregateCall call;
  call.function = FindAggregateFunction(name);
  call.name = name;
  call.args = std::move(args);
  call.distinct = distinct;
  call.result = Type(TypeId::kBigInt);
  return call;
}

std::unique_ptr<AccumulatorRow> Make(const std::vector<AggregateCall>& calls) {
  return std::move(AccumulatorRow::Make(calls, kInput, /*retracting=*/true)).value();
}

// Rows of a state table.
class Row {
 public:
  explicit Row(AccumulatorRow* rows) : rows_(rows), bytes_(rows->width() / 8) { rows_->Init(at()); }
  ~Row() { rows_->Destroy(at()); }
  char* at() { return reinterpret_cast<char*>(bytes_.data()); }
  std::string Encoded() {
    std::string out;
    rows_->Encode(at(), &out);
    return out;
  }
  std::vector<int64_t> Results(int calls) {
    std::vector<ColumnBuilder> builders;
    for (int i = 0; i < calls; ++i) builders.emplace_back(Type(TypeId::kBigInt), 1);
    const char* row = at();
    rows_->Results(&row, 1, builders.data());
    std::vector<int64_t> results;
    for (ColumnBuilder& builder : builders)
      results.push_back(std::get<int64_t>(ValueAt(*builder.Finish(), 0).data));
    return results;
  }

 private:
  AccumulatorRow* rows_;
  std::vector<uint64_t> bytes_;
};

void Take(AccumulatorRow* rows, Row* row, const std::vector<int64_t>& values,
          RowKind kind = RowKind::kInsert) {
  const int32_t count = static_cast<int32_t>(values.size());
  ColumnBuilder column(Type(TypeId::kBigInt), count);
  for (const int64_t value : values) column.Append(value);
  const std::vector<char*> targets(values.size(), row->at());
  auto kinds =
      kind == RowKind::kInsert ? nullptr : std::make_shared<const std::vector<RowKind>>(values.size(), kind);
  rows->Update(targets.data(), Chunk({column.Finish()}, count, nullptr, kinds), {nullptr, count});
}

// A pane of COUNT(*), AVG and a sketch is 16 bytes less than its parts were.
TEST(AccumulatorRow, TheCountOfRowsStandsThereOnce) {
  EXPECT_EQ(Make({Call("COUNT", {})})->width(), 8u);
  EXPECT_EQ(Make({Call("COUNT", {}), Call("COUNT", {})})->width(), 8u);
  EXPECT_EQ(Make({Call("COUNT", {0})})->width(), 16u);
  AggregateCall filtered = Call("COUNT", {});
  filtered.filter = 0;
  EXPECT_EQ(Make({filtered})->width(), 16u);
}

TEST(AccumulatorRow, CountsRowsThroughMergesAndRetractions) {
  auto rows = Make({Call("COUNT", {}), Call("SUM", {0}), Call("COUNT", {})});
  Row a(rows.get()), b(rows.get()), copy(rows.get());
  Take(rows.get(), &a, {1, 2, 3});
  Take(rows.get(), &a, {2}, RowKind::kDelete);
  EXPECT_EQ(a.Results(3), (std::vector<int64_t>{2, 4, 2}));
  Take(rows.get(), &b, {10});
  rows->Merge(a.at(), b.at());
  rows->Assign(copy.at(), a.at());
  EXPECT_EQ(copy.Results(3), (std::vector<int64_t>{3, 14, 3}));
}

// Snapshots are those of programs that kept each count of its own.
TEST(AccumulatorRow, EncodesEachCount) {
  auto rows = Make({Call("COUNT", {}), Call("SUM", {0})});
  Row row(rows.get()), other(rows.get());
  Take(rows.get(), &row, {1, 2, 3});
  const std::string encoded = row.Encoded();
  const int64_t three = 3;
  const std::string count(reinterpret_cast<const char*>(&three), sizeof(three));
  EXPECT_EQ(encoded.substr(0, 16), count + count);
  std::string_view rest = encoded;
  ASSERT_TRUE(rows->Decode(&rest, other.at()).ok());
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(other.Results(2), (std::vector<int64_t>{3, 6}));

  for (size_t size = 0; size < encoded.size(); ++size) {
    Row damaged(rows.get());
    std::string_view cut(encoded.data(), size);
    EXPECT_FALSE(rows->Decode(&cut, damaged.at()).ok()) << size;
  }
  std::string other_count = encoded;
  other_count[8] = 4;
  std::string_view wrong = other_count;
  Row damaged(rows.get());
  EXPECT_EQ(rows->Decode(&wrong, damaged.at()).domain(), Domain::kData);
}

}  // namespace
}  // namespace caudal
