// How caudal's types stand in a Parquet file (docs/formats/parquet.md). Lives in the Parquet module.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "data/schema.h"

namespace parquet::schema {
class GroupNode;
}

namespace caudal {

// The file's schema. User error if a type has no form there. `field_ids`: one a column, or empty.
Result<std::shared_ptr<parquet::schema::GroupNode>> MakeParquetSchema(const Schema& schema,
                                                                      const std::vector<int32_t>& field_ids);

}  // namespace caudal
