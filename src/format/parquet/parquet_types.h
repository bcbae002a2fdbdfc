// How caudal's types stand in a Parquet file (docs/formats/parquet.md). Lives in the Parquet module.
#pragma once

#include <memory>

#include "base/status.h"
#include "data/schema.h"

namespace parquet::schema {
class GroupNode;
}

namespace caudal {

// The file's schema. User error if a type has no form there.
Result<std::shared_ptr<parquet::schema::GroupNode>> MakeParquetSchema(const Schema& schema);

}  // namespace caudal
