#include "connect/feed/feed_connector.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

Table TwoColumns() {
  Table table;
  table.name = "t";
  TableColumn a;
  a.name = "a";
  a.type = Type(TypeId::kInt);
  TableColumn b;
  b.name = "b";
  b.type = Type::String();
  table.columns = {a, b};
  return table;
}

FeedRow Row(int64_t a, std::string b, RowKind kind = RowKind::kInsert) {
  FeedRow row;
  row.kind = kind;
  row.values = {Value(a), Value(std::move(b))};
  return row;
}

TEST(FeedConnectorTest, ReadsWhatWasPushedAndGoesOnAtAPosition) {
  FeedRegistry registry;
  const FeedConnector connector(&registry);
  ReadRequest request;
  request.schema.fields = {{"b", Type::String()},
                           {std::string(kOffsetColumn), Type(TypeId::kBigInt)},
                           {std::string(kSplitColumn), Type(TypeId::kInt)}};
  request.columns = {1};
  auto source = connector.MakeSource(TwoColumns(), request, {});
  ASSERT_TRUE(source.ok());
  auto splits = (*source)->MakeEnumerator()->Discover();
  ASSERT_EQ(splits->size(), 1u);
  auto reader = (*source)->Open((*splits)[0], "");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(std::holds_alternative<NothingYet>(*(*reader)->Next()));

  registry.Get("t")->Push(0, Row(1, "x"));
  FeedRow bad;
  bad.malformed = RejectedRecord{0, "{", "malformed", "no end"};
  registry.Get("t")->Push(0, bad);
  registry.Get("t")->Push(0, Row(2, "y", RowKind::kDelete));
  auto poll = (*reader)->Next();
  ASSERT_TRUE(poll.ok());
  const SourceRows& rows = std::get<SourceRows>(*poll);
  ASSERT_EQ(rows.chunk.size(), 2);
  EXPECT_EQ(ValueAt(*rows.chunk.column(0), 1), Value(std::string("y")));
  EXPECT_EQ(ValueAt(*rows.chunk.column(1), 1), Value(int64_t{2}));
  EXPECT_EQ(rows.chunk.kind(1), RowKind::kDelete);
  ASSERT_EQ(rows.rejected.size(), 1u);
  EXPECT_EQ(rows.rejected[0].offset, 1);

  const Position position = (*reader)->position();
  registry.Get("t")->Push(0, Row(3, "z"));
  registry.EndAll();
  auto again = (*source)->Open((*splits)[0], position);
  poll = (*again)->Next();
  EXPECT_EQ(std::get<SourceRows>(*poll).chunk.size(), 1);
  EXPECT_TRUE(std::holds_alternative<Finished>(*(*again)->Next()));
}

TEST(FeedConnectorTest, RefusesAForeignPosition) {
  FeedRegistry registry;
  const FeedConnector connector(&registry);
  auto source = connector.MakeSource(TwoColumns(), ReadRequest{}, {});
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->Open({"0", 0}, "{\"file\":1}").status().domain(), Domain::kUser);
}

}  // namespace
}  // namespace caudal
