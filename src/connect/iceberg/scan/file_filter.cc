#include "connect/iceberg/scan/file_filter.h"

#include <algorithm>
#include <optional>

#include "connect/iceberg/iceberg_types.h"
#include "iceberg/bounds.h"
#include "iceberg/single_value.h"
#include "iceberg/transform.h"

namespace caudal {
namespace {

using FilterKind = ScanFilter::Kind;

// Whether values of the declared column are compared as the table has them.
bool IsComparable(const Type& declared, const iceberg::Type& type) {
  const std::optional<Type> read = SqlTypeOf(type);
  if (!read || read->id() == TypeId::kFloat || read->id() == TypeId::kDouble || read->id() == TypeId::kTime)
    return false;
  if (declared.is_integer() && read->is_integer()) return true;
  if (declared.id() == TypeId::kVarChar && read->is_string()) return true;
  return declared.EqualsIgnoringNullability(*read);
}

bool IsNullTest(FilterKind kind) { return kind == FilterKind::kIsNull || kind == FilterKind::kIsNotNull; }

// What lies between `low` and `high`, both or none of them known, against the condition.
bool RangeAllows(FilterKind kind, const std::vector<Value>& values, const std::optional<Value>& low,
                 const std::optional<Value>& high) {
  const auto below = [&](const Value& value) { return low && iceberg::SortsBefore(value, *low); };
  const auto above = [&](const Value& value) { return high && iceberg::SortsBefore(*high, value); };
  const Value& first = values[0];
  switch (kind) {
    case FilterKind::kIn:
      return std::ranges::any_of(values, [&](const Value& value) { return !below(value) && !above(value); });
    case FilterKind::kLess:  // some x < first, if the lowest is
      return !low || iceberg::SortsBefore(*low, first);
    case FilterKind::kLessOrEqual:
      return !below(first);
    case FilterKind::kGreater:
      return !high || iceberg::SortsBefore(first, *high);
    case FilterKind::kGreaterOrEqual:
      return !above(first);
    default:
      return true;
  }
}

std::optional<Value> BoundOf(const std::map<int32_t, std::string>& bounds, const iceberg::Field& field) {
  const auto found = bounds.find(field.id);
  if (found == bounds.end()) return std::nullopt;
  Result<Value> value = iceberg::DecodeSingleValue(field.type, found->second);
  return value.ok() ? std::optional(std::move(value).value()) : std::nullopt;
}

bool IsMonotonic(const iceberg::Transform& transform) {
  using Transform = iceberg::Transform::Kind;
  return transform.kind != Transform::kBucket && transform.kind != Transform::kVoid &&
         transform.kind != Transform::kUnknown;
}

}  // namespace

FileFilter::FileFilter(const std::vector<ScanFilter>& filters, const Table& declared,
                       const iceberg::Schema& schema) {
  for (const ScanFilter& filter : filters) {
    const TableColumn& column = declared.columns[static_cast<size_t>(filter.column)];
    for (const iceberg::Field& field : schema.fields) {
      if (field.name != column.name || field.type.is_nested()) continue;
      if (!IsNullTest(filter.kind) && !IsComparable(column.type, field.type)) continue;
      Condition condition{filter.kind, field, {}};
      for (const Value& value : filter.values) condition.values.push_back(IcebergValue(field.type, value));
      conditions_.push_back(std::move(condition));
    }
  }
}

bool FileFilter::CanHold(const iceberg::LiveFile& file, const iceberg::TableMetadata& table) const {
  const iceberg::PartitionSpec* spec = table.FindSpec(file.spec_id);
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    return StatisticsAllow(condition, file.file) &&
           (spec == nullptr || PartitionAllows(condition, file, *spec));
  });
}

bool FileFilter::StatisticsAllow(const Condition& condition, const iceberg::DataFile& file) {
  const auto nulls = file.null_value_counts.find(condition.field.id);
  const bool counted = nulls != file.null_value_counts.end();
  if (condition.kind == FilterKind::kIsNull) return !counted || nulls->second > 0;
  // A file that is older than the column has no statistics of it, and one that has a default not either.
  if (counted && nulls->second >= file.record_count && file.record_count > 0) return false;
  if (condition.kind == FilterKind::kIsNotNull) return true;
  return RangeAllows(condition.kind, condition.values, BoundOf(file.lower_bounds, condition.field),
                     BoundOf(file.upper_bounds, condition.field));
}

bool FileFilter::PartitionAllows(const Condition& condition, const iceberg::LiveFile& file,
                                 const iceberg::PartitionSpec& spec) {
  for (size_t i = 0; i < spec.fields.size() && i < file.file.partition.size(); ++i) {
    const iceberg::PartitionField& part = spec.fields[i];
    if (part.source_ids.size() != 1 || part.source_ids[0] != condition.field.id) continue;
    const iceberg::Transform transform = iceberg::Transform::Parse(part.transform);
    const Value& partition = file.file.partition[i];
    using Transform = iceberg::Transform::Kind;
    if (transform.kind == Transform::kVoid || transform.kind == Transform::kUnknown) continue;
    // Every transform gives NULL of NULL and of nothing else.
    if (condition.kind == FilterKind::kIsNull) return partition.is_null();
    if (partition.is_null()) return false;
    if (condition.kind == FilterKind::kIsNotNull || !transform.ResultType(condition.field.type).ok())
      continue;
    if (condition.kind != FilterKind::kIn && !IsMonotonic(transform)) continue;
    std::vector<Value> values;
    for (const Value& value : condition.values)
      values.push_back(transform.Apply(condition.field.type, value));
    // Another writer's form of the value tells nothing.
    const auto other = [&](const Value& value) { return value.data.index() != partition.data.index(); };
    if (std::ranges::any_of(values, other)) continue;
    if (condition.kind == FilterKind::kIn) {
      if (std::ranges::find(values, partition) == values.end()) return false;
      continue;
    }
    // x < v gives only T(x) <= T(v).
    const bool upwards =
        condition.kind == FilterKind::kGreater || condition.kind == FilterKind::kGreaterOrEqual;
    const FilterKind kind = upwards ? FilterKind::kGreaterOrEqual : FilterKind::kLessOrEqual;
    if (!RangeAllows(kind, values, partition, partition)) return false;
  }
  return true;
}

}  // namespace caudal
