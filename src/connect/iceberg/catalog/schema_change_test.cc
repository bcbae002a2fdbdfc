#include "connect/iceberg/catalog/schema_change.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

TEST(SchemaChangeTest, ANewSchemaHasANumberThatNoOtherHas) {
  iceberg::TableMetadata table;
  iceberg::Schema schema;
  iceberg::Field id;
  id.id = 1;
  id.name = "id";
  id.type = iceberg::Type(iceberg::TypeId::kLong);
  schema.fields.push_back(id);
  schema.schema_id = 4;
  table.schemas.push_back(schema);
  schema.schema_id = 1;
  table.schemas.push_back(schema);
  table.current_schema_id = 1;
  table.last_column_id = 1;
  const auto commit = CommitOf({RenameColumn{"id", "key"}}, table);
  ASSERT_TRUE(commit.ok()) << commit.status().ToString();
  ASSERT_EQ(commit->updates.size(), 1u);
  EXPECT_EQ(std::get<iceberg::AddSchema>(commit->updates[0]).schema.schema_id, 5);
}

}  // namespace
}  // namespace caudal
