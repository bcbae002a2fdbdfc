// KF-34: odd characters and NULL in partition values.
#include "iceberg/partition_path.h"

#include <gtest/gtest.h>

namespace caudal::iceberg {
namespace {

using std::string_literals::operator""s;

struct Part {
  std::string name;
  std::string transform;
  Type type;  // of the partition's value
  Value value;
};

std::string Path(const std::vector<Part>& parts) {
  PartitionSpec spec;
  std::vector<Type> types;
  std::vector<Value> values;
  for (const Part& part : parts) {
    spec.fields.push_back({.name = part.name, .transform = part.transform});
    types.push_back(part.type);
    values.push_back(part.value);
  }
  return PartitionPath(spec, types, values);
}

const Type kString(TypeId::kString);
const Type kInt(TypeId::kInt);

TEST(PartitionPath, NamesAndValuesAreEncodedAsJavaDoes) {
  EXPECT_EQ(Path({{"my#str%bucket", "identity", kString, Value("my+str"s)},
                  {"other str+bucket", "identity", kString, Value("( )"s)},
                  {"my!int:bucket", "identity", kInt, Value(int64_t{10})}}),
            "my%23str%25bucket=my%2Bstr/other+str%2Bbucket=%28+%29/my%21int%3Abucket=10");
  EXPECT_EQ(Path({{"a", "identity", kString, Value("é"s)}}), "a=%C3%A9");
  EXPECT_EQ(Path({}), "");
}

TEST(PartitionPath, NothingLeavesTheFolder) {
  EXPECT_EQ(Path({{"a", "identity", kString, Value("../x"s)}}), "a=..%2Fx");
  EXPECT_EQ(Path({{"../b", "identity", kString, Value("a/b"s)}}), "..%2Fb=a%2Fb");
  EXPECT_EQ(Path({{"a", "identity", kString, Value(""s)}}), "a=");
  EXPECT_EQ(Path({{"a", "identity", kString, Value()}}), "a=null");
}

TEST(PartitionPath, TimesAreWrittenAsPeopleWriteThem) {
  const Type date(TypeId::kDate);
  EXPECT_EQ(Path({{"y", "year", kInt, Value(int64_t{56})}}), "y=2026");
  EXPECT_EQ(Path({{"m", "month", kInt, Value(int64_t{-1})}}), "m=1969-12");
  EXPECT_EQ(Path({{"d", "day", date, Value(int64_t{-1})}}), "d=1969-12-31");
  EXPECT_EQ(Path({{"h", "hour", kInt, Value(int64_t{-1})}}), "h=1969-12-31-23");
  EXPECT_EQ(Path({{"b", "bucket[4]", kInt, Value(int64_t{3})}}), "b=3");
  EXPECT_EQ(Path({{"t", "identity", Type(TypeId::kTimestampTz), Value(int64_t{1'000'001})}}),
            "t=1970-01-01T00%3A00%3A01.000001Z");
  EXPECT_EQ(Path({{"t", "identity", Type(TypeId::kTime), Value(int64_t{3'661'000'005})}}),
            "t=01%3A01%3A01.000005");
}

TEST(PartitionPath, OtherTypesHaveTheirText) {
  Type decimal(TypeId::kDecimal);
  decimal.precision = 9;
  decimal.scale = 2;
  EXPECT_EQ(Path({{"p", "identity", decimal, Value(int128_t{-5})}}), "p=-0.05");
  EXPECT_EQ(Path({{"u", "identity", Type(TypeId::kUuid), Value("0123456789abcdef"s)}}),
            "u=30313233-3435-3637-3839-616263646566");
  EXPECT_EQ(Path({{"b", "identity", Type(TypeId::kBinary), Value("\0\xff"s)}}), "b=00ff");
  EXPECT_EQ(Path({{"b", "identity", Type(TypeId::kBoolean), Value(true)}}), "b=true");
}

}  // namespace
}  // namespace caudal::iceberg
