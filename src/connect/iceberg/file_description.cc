#include "connect/iceberg/file_description.h"

#include "connect/iceberg/iceberg_types.h"
#include "iceberg/bounds.h"

namespace caudal {

iceberg::DataFile DescribeColumns(const std::vector<int32_t>& ids, const std::vector<iceberg::Type>& types,
                                  const ParquetFooter& footer) {
  iceberg::DataFile file;
  file.record_count = footer.rows;
  file.split_offsets = footer.group_offsets;
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids[i];
    const iceberg::Type& type = types[i];
    const ParquetFooter::Column& column = footer.columns[i];
    file.column_sizes[id] = column.bytes;
    file.value_counts[id] = footer.rows;
    file.null_value_counts[id] = column.nulls;
    const bool floating = type.id == iceberg::TypeId::kFloat || type.id == iceberg::TypeId::kDouble;
    if (floating) file.nan_value_counts[id] = column.nans;
    if (!column.lowest || !column.highest) continue;
    // Through the collector, which gives a zero the sign that keeps both zeros inside.
    iceberg::BoundsCollector bounds;
    bounds.Add(IcebergValue(type, *column.lowest));
    bounds.Add(IcebergValue(type, *column.highest));
    if (!bounds.lowest()) continue;
    file.lower_bounds[id] = iceberg::LowerBound(type, *bounds.lowest());
    if (const auto upper = iceberg::UpperBound(type, *bounds.highest())) file.upper_bounds[id] = *upper;
  }
  return file;
}

}  // namespace caudal
