#include <gtest/gtest.h>

#include "data/chunk.h"
#include "data/column_builder.h"
#include "data/column_view.h"

namespace caudal {
namespace {

TEST(ColumnTest, BuilderCarriesNullsAndLongStrings) {
  ColumnBuilder builder(Type::String(), 1);
  builder.AppendString("short");
  builder.AppendNull();
  builder.AppendString("a string that does not fit into a view");
  ColumnPtr column = builder.Finish();
  ColumnView<StringView> view(*column);
  EXPECT_EQ(view[0].view(), "short");
  EXPECT_TRUE(view.IsNull(1));
  EXPECT_EQ(view[2].view(), "a string that does not fit into a view");
}

TEST(ColumnTest, NestedValuesRoundTrip) {
  const Type type = Type::Row(
      {{"a", Type(TypeId::kInt)}, {"b", Type::Array(Type::Map(Type::String(), Type::Decimal(30, 2)))}});
  const Value value(
      ValueList{Value(int64_t{7}),
                Value(ValueList{Value(ValueList{Value(std::string("k")), Value(int128_t{5})}), Value()})});
  ColumnBuilder builder(type);
  builder.AppendValue(value);
  builder.AppendNull();
  builder.AppendValue(value);
  ColumnPtr column = builder.Finish();
  EXPECT_EQ(ValueAt(*column, 0), value);
  EXPECT_TRUE(ValueAt(*column, 1).is_null());
  EXPECT_EQ(ValueAt(*column, 2), value);
  const uint16_t rows[] = {2, 1};
  ColumnPtr copy = CopyRows(*column, rows, 2);
  EXPECT_EQ(ValueAt(*copy, 0), value);
  EXPECT_TRUE(ValueAt(*copy, 1).is_null());
}

TEST(ColumnTest, ConstantAndDictionaryReadAlike) {
  ColumnPtr constant = ConstantColumn(Type::String(), Value(std::string("EUR")), 3);
  EXPECT_EQ(ColumnView<StringView>(*constant)[2].view(), "EUR");
  auto dictionary = std::make_shared<StringDictionary>(1);
  dictionary->Append("app");
  dictionary->Append("a channel with a long name");
  MutableBufferPtr codes = Buffer::Allocate(2 * sizeof(int32_t));
  codes->mutable_as<int32_t>()[0] = 1;
  codes->mutable_as<int32_t>()[1] = 0;
  ColumnPtr coded = Column::Dictionary(Type::String(), 2, codes, nullptr, dictionary, 2);
  EXPECT_EQ(ColumnView<StringView>(*coded)[0].view(), "a channel with a long name");
  EXPECT_TRUE(ValueAt(*Column::Null(Type(TypeId::kInt), 9), 8).is_null());
}

TEST(ChunkTest, CompactKeepsOrderOfSelectionAndKinds) {
  ColumnBuilder builder{Type(TypeId::kInt)};
  for (int32_t i = 0; i < 4; ++i) builder.Append(i * 10);
  auto selection = std::make_shared<Selection>(Selection{{3, 1}});
  auto kinds = std::make_shared<std::vector<RowKind>>(
      std::vector<RowKind>{RowKind::kInsert, RowKind::kDelete, RowKind::kInsert, RowKind::kUpdateAfter});
  Chunk compact = Chunk({builder.Finish()}, 4, selection, kinds).Compact();
  EXPECT_EQ(compact.size(), 2);
  EXPECT_EQ(compact.column(0)->values<int32_t>()[0], 30);
  EXPECT_EQ(compact.kind(0), RowKind::kUpdateAfter);
  EXPECT_EQ(compact.kind(1), RowKind::kDelete);
}

TEST(TypeTest, PrintsAsFlink) {
  EXPECT_EQ(Type::Decimal(18, 2).WithNullable(false).ToString(), "DECIMAL(18, 2) NOT NULL");
  EXPECT_EQ(Type::Row({{"a", Type(TypeId::kInt)}, {"b", Type::String()}}).ToString(),
            "ROW<`a` INT, `b` STRING>");
  EXPECT_TRUE(Type::String().EqualsIgnoringNullability(Type::String().WithNullable(false)));
}

}  // namespace
}  // namespace caudal
