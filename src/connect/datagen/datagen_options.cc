#include "connect/datagen/datagen_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/connector.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

Result<double> ParseNumber(std::string_view name, std::string_view text) {
  double value = 0;
  if (!ParseDouble(text, &value))
    return Status::User(fmt::format("option '{}': '{}' is not a number", name, text));
  return value;
}

// What Flink draws from when nothing is said.
void SetDefaultRange(DatagenField* field) {
  switch (field->type.id()) {
    case TypeId::kTinyInt:
      field->min = -128, field->max = 127;
      break;
    case TypeId::kSmallInt:
      field->min = -32768, field->max = 32767;
      break;
    case TypeId::kInt:
    case TypeId::kDate:
      field->min = std::numeric_limits<int32_t>::min(), field->max = std::numeric_limits<int32_t>::max();
      break;
    case TypeId::kDecimal: {
      const int digits = field->type.precision() - field->type.scale();
      field->max = static_cast<double>(PowerOfTen(std::min(digits, 15))) - 1;
      field->min = -field->max;
      break;
    }
    case TypeId::kTime:
      field->max = 86'399'999;
      break;
    default:  // beyond this a double skips integers
      field->min = -9.0e15, field->max = 9.0e15;
  }
}

bool CanGenerate(const Type& type) {
  switch (type.id()) {
    case TypeId::kNull:
    case TypeId::kArray:
    case TypeId::kMap:
    case TypeId::kRow:
    case TypeId::kIntervalYearMonth:
    case TypeId::kIntervalDayTime:
      return false;
    default:
      return true;
  }
}

Result<DatagenField> ReadField(const Table& table, const TableColumn& column) {
  DatagenField field;
  field.type = column.type;
  if (!CanGenerate(column.type)) {
    return Status::User(fmt::format("connector 'datagen' cannot make column '{}' of type {} yet", column.name,
                                    column.type.ToString()));
  }
  SetDefaultRange(&field);
  const std::string prefix = "fields." + column.name + ".";
  const auto number = [&](std::string_view key, double fallback) -> Result<double> {
    const std::string name = prefix + std::string(key);
    return table.options.contains(name) ? ParseNumber(name, table.option(name)) : Result<double>(fallback);
  };
  const std::string_view kind = table.option(prefix + "kind", "random");
  if (kind != "random" && kind != "sequence") {
    return Status::User(fmt::format("option '{}kind': '{}' is not 'random' or 'sequence'", prefix, kind));
  }
  field.sequence = kind == "sequence";
  if (field.sequence &&
      (!table.options.contains(prefix + "start") || !table.options.contains(prefix + "end"))) {
    return Status::User(
        fmt::format("column '{}' is a sequence without '{}start' and '{}end'", column.name, prefix, prefix));
  }
  ASSIGN_OR_RETURN(field.min, number(field.sequence ? "start" : "min", field.min));
  ASSIGN_OR_RETURN(field.max, number(field.sequence ? "end" : "max", field.max));
  if (field.min > field.max) return Status::User(fmt::format("column '{}': its range is empty", column.name));
  ASSIGN_OR_RETURN(const double length, number("length", 100));
  if (length < 0 || length > 1e6)
    return Status::User(fmt::format("option '{}length' is not 0 to 1000000", prefix));
  field.length = static_cast<int64_t>(length);
  ASSIGN_OR_RETURN(field.null_rate, number("null-rate", 0));
  ASSIGN_OR_RETURN(field.max_past_millis, ParseDurationMillis(table.option(prefix + "max-past", "0 ms")));
  return field;
}

}  // namespace

Result<DatagenOptions> DatagenOptions::From(const Table& table) {
  DatagenOptions options;
  for (const auto& [name, text] : table.options) {
    double value = 0;
    if (name != "rows-per-second" && name != "number-of-rows") continue;
    ASSIGN_OR_RETURN(value, ParseNumber(name, text));
    (name == "rows-per-second" ? options.rows_per_second : options.number_of_rows) =
        static_cast<int64_t>(value);
  }
  if (options.rows_per_second < 1) return Status::User("option 'rows-per-second' must be above 0");
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kMetadata) {
      return Status::User(fmt::format("connector 'datagen' has no metadata for column '{}'", column.name));
    }
    if (column.kind != TableColumn::Kind::kPhysical) continue;
    ASSIGN_OR_RETURN(DatagenField field, ReadField(table, column));
    options.fields.push_back(std::move(field));
  }
  return options;
}

}  // namespace caudal
