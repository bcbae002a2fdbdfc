#include "connect/datagen/datagen_connector.h"

#include <gtest/gtest.h>

#include "data/value.h"

namespace caudal {
namespace {

Table MakeTable(Options options) {
  Table table;
  table.name = "t";
  for (const auto& [name, type] : std::vector<std::pair<std::string, Type>>{{"n", Type(TypeId::kBigInt)},
                                                                            {"s", Type::String()},
                                                                            {"d", Type::Decimal(10, 2)},
                                                                            {"t", Type::Timestamp(3)}}) {
    TableColumn column;
    column.name = name;
    column.type = type;
    table.columns.push_back(column);
  }
  table.options = std::move(options);
  return table;
}

ReadRequest All(const Table& table) {
  ReadRequest request;
  request.schema = table.schema();
  request.columns = {0, 1, 2, 3};
  return request;
}

TEST(DatagenConnectorTest, RowsComeAtTheirRateAndGoOnWhereTheyStopped) {
  const Table table = MakeTable({{"rows-per-second", "100"},
                                 {"number-of-rows", "150"},
                                 {"fields.s.length", "5"},
                                 {"fields.n.kind", "sequence"},
                                 {"fields.n.start", "7"},
                                 {"fields.n.end", "1000"},
                                 {"fields.d.min", "1"},
                                 {"fields.d.max", "2"}});
  ManualEnv env(1'000'000);
  ConnectorContext context;
  context.env = &env;
  auto source = DatagenConnector().MakeSource(table, All(table), context);
  ASSERT_TRUE(source.ok()) << source.status().ToString();
  EXPECT_TRUE((*source)->bounded());
  auto reader = std::move((*source)->Open({"0", 0}, "")).value();
  EXPECT_EQ(std::get<SourceRows>(*reader->Next()).chunk.size(), 1);
  EXPECT_TRUE(std::holds_alternative<NothingYet>(*reader->Next()));
  env.Advance(1'000'000);
  auto poll = reader->Next();
  const Chunk& chunk = std::get<SourceRows>(*poll).chunk;
  ASSERT_EQ(chunk.size(), 100);
  EXPECT_EQ(ValueAt(*chunk.column(0), 3), Value(int64_t{11}));
  EXPECT_EQ(std::get<std::string>(ValueAt(*chunk.column(1), 3).data).size(), 5u);
  const int64_t cents = std::get<int64_t>(ValueAt(*chunk.column(2), 3).data);
  EXPECT_TRUE(cents >= 100 && cents <= 200);
  EXPECT_EQ(ValueAt(*chunk.column(3), 3), Value(int64_t{2'000'000}));

  auto again = std::move((*source)->Open({"0", 0}, reader->position())).value();
  env.Advance(1'000'000);
  auto rest = again->Next();
  EXPECT_EQ(std::get<SourceRows>(*rest).chunk.size(), 49);
  EXPECT_EQ(ValueAt(*std::get<SourceRows>(*rest).chunk.column(0), 0), Value(int64_t{108}));
  EXPECT_TRUE(std::holds_alternative<Finished>(*again->Next()));
}

TEST(DatagenConnectorTest, WrongOptionsAreNamed) {
  const auto message = [](Options options) {
    const Table table = MakeTable(std::move(options));
    return DatagenConnector().MakeSource(table, All(table), {}).status().message();
  };
  EXPECT_EQ(message({{"fields.n.kind", "sequence"}}),
            "column 'n' is a sequence without 'fields.n.start' and 'fields.n.end'");
  EXPECT_EQ(message({{"fields.n.kind", "odd"}}),
            "option 'fields.n.kind': 'odd' is not 'random' or 'sequence'");
  EXPECT_EQ(message({{"fields.n.min", "x"}}), "option 'fields.n.min': 'x' is not a number");
  EXPECT_EQ(message({{"fields.n.min", "2"}, {"fields.n.max", "1"}}), "column 'n': its range is empty");
}

}  // namespace
}  // namespace caudal
