#include "data/row_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "data/column_builder.h"

namespace caudal {
namespace {

ColumnPtr MakeColumn(const Type& type, const std::vector<Value>& values) {
  ColumnBuilder builder(type);
  for (const Value& value : values) builder.AppendValue(value);
  return builder.Finish();
}

std::vector<std::string> Keys(const std::vector<ColumnPtr>& columns) {
  Chunk chunk(columns, columns[0]->size());
  std::vector<int> numbers(columns.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  RowKeys keys;
  keys.Encode(chunk, numbers, chunk.rows());
  std::vector<std::string> all;
  for (int32_t i = 0; i < keys.size(); ++i) all.emplace_back(keys.key(i));
  return all;
}

Value Int(int64_t v) { return Value(v); }
Value Text(std::string v) { return Value(std::move(v)); }

TEST(RowKey, CanonicalUuidIsSeventeenBytes) {
  const std::string uuid = "0123abcd-4567-89ab-cdef-fedcba987654";
  const auto keys =
      Keys({MakeColumn(Type::String(), {Text(uuid), Text("0123ABCD-4567-89ab-cdef-fedcba987654"),
                                        Text("0123abcd-4567-89ab-cdef-fedcba98765g"),
                                        Text("0123abcd04567-89ab-cdef-fedcba987654")})});
  EXPECT_EQ(keys[0], std::string("\x02\x01\x23\xab\xcd\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54", 17));
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_EQ(keys[i].size(), 39u) << i;
}

TEST(RowKey, StoredBytesOfVersionOne) {
  EXPECT_EQ(Keys({MakeColumn(Type(TypeId::kInt), {Int(1), Int(-1), Value()})}),
            (std::vector<std::string>{std::string("\x01\x80\x00\x00\x01", 5),
                                      std::string("\x01\x7f\xff\xff\xff", 5), std::string("\0", 1)}));
  EXPECT_EQ(Keys({MakeColumn(Type::String(), {Text("a"), Text(std::string("a\0b", 3)), Text("")})}),
            (std::vector<std::string>{std::string("\x01\x61\0\0", 4),
                                      std::string("\x01\x61\0\xff\x62\0\0", 7), std::string("\x01\0\0", 3)}));
  EXPECT_EQ(RowKeys::Hash("caudal"), 7443971943022511934u);
}

TEST(RowKey, ZeroAndNanAreNormalised) {
  const auto keys = Keys({MakeColumn(
      Type(TypeId::kDouble), {Value(0.0), Value(-0.0), Value(std::nan("1")), Value(-std::nan("2"))})});
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_EQ(keys[2], keys[3]);
  EXPECT_NE(keys[0], keys[2]);
}

TEST(RowKey, BytesOrderAsValuesDo) {
  const std::vector<Value> numbers = {Int(std::numeric_limits<int64_t>::min()), Int(-1), Int(0), Int(7),
                                      Int(std::numeric_limits<int64_t>::max())};
  auto keys = Keys({MakeColumn(Type(TypeId::kBigInt), numbers)});
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  keys = Keys({MakeColumn(Type(TypeId::kDouble), {Value(-INFINITY), Value(-2.5), Value(0.0), Value(1e-300),
                                                  Value(INFINITY), Value(std::nan(""))})});
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  keys = Keys({MakeColumn(Type::String(), {Text(""), Text(std::string("\0", 1)), Text(std::string("\0a", 2)),
                                           Text("a"), Text("a\x01"), Text("b")})});
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(RowKey, ColumnsDoNotRunIntoEachOther) {
  const auto keys = Keys({MakeColumn(Type::String(), {Text("ab"), Text("a"), Value(), Text("")}),
                          MakeColumn(Type::String(), {Text("c"), Text("bc"), Text(""), Value()})});
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = i + 1; j < keys.size(); ++j) EXPECT_NE(keys[i], keys[j]) << i << " " << j;
  }
}

Type AnyType(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 15 : 12)) {
    case 0:
      return Type(TypeId::kBoolean);
    case 1:
      return Type(TypeId::kTinyInt);
    case 2:
      return Type(TypeId::kSmallInt);
    case 3:
      return Type(TypeId::kInt);
    case 4:
      return Type(TypeId::kBigInt);
    case 5:
      return Type(TypeId::kFloat);
    case 6:
      return Type(TypeId::kDouble);
    case 7:
      return Type::Decimal(10, 2);
    case 8:
      return Type::Decimal(38, 2);
    case 9:
      return Type::String();
    case 10:
      return Type::Bytes();
    case 11:
      return Type::Timestamp(3);
    case 12:
      return Type::Array(AnyType(random, depth - 1));
    case 13:
      return Type::Map(Type::String(), AnyType(random, depth - 1));
    default:
      return Type::Row({{"a", AnyType(random, depth - 1)}, {"b", AnyType(random, depth - 1)}});
  }
}

// A value of the type; few different ones, so that equal keys occur.
Value AnyValue(const Type& type, std::mt19937& random) {
  if (random() % 5 == 0) return Value();
  const int64_t number = static_cast<int64_t>(random() % 5) - 2;
  switch (type.physical()) {
    case Physical::kBool:
      return Value(number > 0);
    case Physical::kInt128:
      return Value(static_cast<int128_t>(number) << 70);
    case Physical::kFloat:
    case Physical::kDouble:
      return Value(static_cast<double>(number) / 4);
    case Physical::kString: {
      if (number == 2) return Text("00000000-0000-0000-0000-000000000000");
      return Text(std::string(static_cast<size_t>(number + 2), static_cast<char>(random() % 2)));
    }
    case Physical::kArray:
    case Physical::kMap:
    case Physical::kRow: {
      ValueList list;
      if (type.physical() == Physical::kRow) {
        for (const Field& field : type.children()) list.push_back(AnyValue(field.type, random));
      } else {
        const bool map = type.physical() == Physical::kMap;
        for (int64_t i = 0; i < (number + 2) % 3; ++i) {
          if (map) list.push_back(Text(std::string(1, static_cast<char>('a' + i))));
          list.push_back(AnyValue(type.children()[map ? 1 : 0].type, random));
        }
      }
      return Value(std::move(list));
    }
    default:
      return Int(number);
  }
}

// Injective and decodable: equal bytes exactly for equal rows, over random types and values.
TEST(RowKey, RandomRowsComeBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Type> types;
    std::vector<ColumnPtr> columns;
    for (size_t c = 0; c < 1 + random() % 3; ++c) types.push_back(AnyType(random, 2));
    for (const Type& type : types) {
      std::vector<Value> values;
      for (int i = 0; i < 50; ++i) values.push_back(AnyValue(type, random));
      columns.push_back(MakeColumn(type, values));
    }
    const auto keys = Keys(columns);
    std::map<std::string, std::vector<Value>> rows;
    for (int32_t i = 0; i < 50; ++i) {
      std::vector<Value> row;
      for (const ColumnPtr& column : columns) row.push_back(ValueAt(*column, i));
      const auto [at, fresh] = rows.emplace(keys[static_cast<size_t>(i)], row);
      EXPECT_TRUE(fresh || at->second == row);
      std::vector<ColumnBuilder> builders;
      for (const Type& type : types) builders.emplace_back(type);
      DecodeKey(keys[static_cast<size_t>(i)], types, &builders);
      for (size_t c = 0; c < types.size(); ++c) {
        EXPECT_EQ(ValueAt(*builders[c].Finish(), 0), row[c]) << types[c].ToString();
      }
    }
  }
}

TEST(RowKey, ReadsEveryEncodingAndSelection) {
  ColumnPtr flat = MakeColumn(Type::String(), {Text("a"), Text("b"), Text("a")});
  ColumnPtr constant = ConstantColumn(Type::String(), Text("b"), 3);
  const uint16_t picked[] = {2, 1};
  RowKeys keys;
  keys.Encode(Chunk({flat, constant}, 3), {1, 0}, {picked, 2});
  EXPECT_EQ(keys.key(0), std::string_view("\x01"
                                          "b\0\0"
                                          "\x01"
                                          "a\0\0",
                                          8));
  EXPECT_EQ(keys.key(1), std::string_view("\x01"
                                          "b\0\0"
                                          "\x01"
                                          "b\0\0",
                                          8));
  EXPECT_EQ(keys.hash(0), RowKeys::Hash(keys.key(0)));
  EXPECT_GE(keys.key_group(0), 0);
  EXPECT_LT(keys.key_group(0), kKeyGroups);
}

}  // namespace
}  // namespace caudal
