#include "connect/iceberg/catalog/schema_change.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

iceberg::Schema OneColumn(int32_t schema_id) {
  iceberg::Field id;
  id.id = 1;
  id.name = "id";
  id.type = iceberg::Type(iceberg::TypeId::kLong);
  iceberg::Schema schema;
  schema.schema_id = schema_id;
  schema.fields.push_back(id);
  return schema;
}

TEST(SchemaChangeTest, ANewSchemaHasANumberThatNoOtherHas) {
  iceberg::TableMetadata table;
  table.schemas = {OneColumn(4), OneColumn(1)};
  table.current_schema_id = 1;
  table.last_column_id = 3;
  const auto commit = CommitOf({RenameColumn{"id", "key"}}, table);
  ASSERT_TRUE(commit.ok()) << commit.status().ToString();
  ASSERT_EQ(commit->updates.size(), 1u);
  EXPECT_EQ(std::get<iceberg::AddSchema>(commit->updates[0]).schema.schema_id, 5);
  EXPECT_EQ(std::get<iceberg::AddSchema>(commit->updates[0]).last_column_id, 3);
}

// A service would say that there is nothing to add.
TEST(SchemaChangeTest, AFormerSchemaIsMadeTheCurrentOneAgain) {
  iceberg::TableMetadata table;
  table.schemas.push_back(OneColumn(4));
  table.schemas.push_back(OneColumn(5));
  table.schemas.back().fields[0].name = "key";
  table.current_schema_id = 5;
  const auto commit = CommitOf({RenameColumn{"key", "id"}}, table);
  ASSERT_TRUE(commit.ok()) << commit.status().ToString();
  ASSERT_EQ(commit->updates.size(), 1u);
  EXPECT_EQ(std::get<iceberg::SetCurrentSchema>(commit->updates[0]).schema_id, 4);
}

}  // namespace
}  // namespace caudal
