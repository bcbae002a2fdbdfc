#include "iceberg/partition_by.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal::iceberg {
namespace {

using ::testing::HasSubstr;

Schema Columns() {
  Schema schema;
  schema.fields = {{.id = 1, .name = "id", .type = Type(TypeId::kLong)},
                   {.id = 2, .name = "ts", .type = Type(TypeId::kTimestampTz)},
                   {.id = 3, .name = "my, region", .type = Type(TypeId::kString)},
                   {.id = 4, .name = "ts_hour", .type = Type(TypeId::kInt)}};
  return schema;
}

std::string Shown(std::string_view text) {
  const Result<PartitionSpec> spec = ParsePartitionBy(text, Columns());
  if (!spec.ok()) return spec.status().message();
  std::string shown;
  for (const PartitionField& field : spec->fields) {
    shown += std::to_string(field.field_id) + " " + field.name + "=" + field.transform + "(" +
             std::to_string(field.source_ids[0]) + ") ";
  }
  return shown;
}

TEST(PartitionByTest, IsNamedAsTheJavaLibraryNamesIt) {
  EXPECT_EQ(Shown(""), "");
  EXPECT_EQ(Shown("day(ts), bucket(16, id) , `my, region`"),
            "1000 ts_day=day(2) 1001 id_bucket=bucket[16](1) 1002 my, region=identity(3) ");
  EXPECT_EQ(Shown("months(ts),truncate(4, `my, region`)"),
            "1000 ts_month=month(2) 1001 my, region_trunc=truncate[4](3) ");
}

TEST(PartitionByTest, WhatItCannotBeIsNamed) {
  EXPECT_THAT(Shown("day(ts"), HasSubstr("'day(ts' is no partition field"));
  EXPECT_THAT(Shown("day(ts),"), HasSubstr("'' is no partition field"));
  EXPECT_THAT(Shown("week(ts)"), HasSubstr("the transform 'week' is not known"));
  EXPECT_THAT(Shown("day(when)"), HasSubstr("there is no column 'when'"));
  EXPECT_THAT(Shown("day(id)"), HasSubstr("'day' has no meaning for a column of type long"));
  EXPECT_THAT(Shown("bucket(0, id)"), HasSubstr("'0' is no number of buckets"));
  EXPECT_THAT(Shown("bucket(id)"), HasSubstr("is no partition field"));
  EXPECT_THAT(Shown("id, id"), HasSubstr("two partition fields are named 'id'"));
  EXPECT_THAT(Shown("hour(ts)"), HasSubstr("would be named 'ts_hour', as a column is"));
}

}  // namespace
}  // namespace caudal::iceberg
