// ParsePartitionBy: a partition spec as people write it, "day(ts), bucket(16, id), region".
//
// A pure function; any thread.
#pragma once

#include <string_view>

#include "base/status.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// Transforms by their names in Iceberg (also in the plural, as Spark has them), a bare column for identity.
// Fields are named as the Java library names them: "ts_day", "id_bucket", "name_trunc", "region". User error
// for text of another form, a column that the schema lacks, a transform that is not known or has no meaning
// for its column, and a name that comes twice.
Result<PartitionSpec> ParsePartitionBy(std::string_view text, const Schema& schema);

}  // namespace caudal::iceberg
