#include "connect/iceberg/scan/scan_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "connect/iceberg/iceberg_types.h"
#include "connect/iceberg/scan/lineage_columns.h"
#include "data/column_view.h"

namespace caudal {
namespace {

bool IsSameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Whether every value of the table's type is one of the declared type.
bool CanHold(const Type& declared, const Type& table) {
  if (declared.is_integer()) return table.is_integer() && ReadType(declared).id() >= table.id();
  if (declared.is_string()) return table.is_string();
  if (declared.is_binary()) return table.is_binary();
  if (declared.id() == TypeId::kDouble) return table.id() == TypeId::kDouble || table.id() == TypeId::kFloat;
  if (declared.id() == TypeId::kDecimal) {
    return table.id() == TypeId::kDecimal && declared.scale() == table.scale() &&
           declared.precision() >= table.precision();
  }
  return declared.id() == table.id();
}

Status CheckColumn(const TableColumn& column, const iceberg::Schema& schema) {
  for (const iceberg::Field& field : schema.fields) {
    if (field.name != column.name) continue;
    const std::optional<Type> type = SqlTypeOf(field.type);
    if (!type) {
      return Status::User(fmt::format("column '{}' is {} in the table, which cannot be read yet", column.name,
                                      iceberg::TypeText(field.type)))
          .Hint("leave it out of the declaration");
    }
    if (CanHold(column.type, *type)) return Status();
    return Status::User(fmt::format("column '{}' is declared as {}, and the table has it as {}", column.name,
                                    column.type.ToString(), iceberg::TypeText(field.type)))
        .Hint(fmt::format("declare it as {}", type->ToString()));
  }
  for (const iceberg::Field& field : schema.fields) {
    if (!IsSameIgnoringCase(field.name, column.name)) continue;
    return Status::User(fmt::format("column '{}' is named '{}' in the table", column.name, field.name))
        .Hint("names are taken as they are: write the column as the table has it");
  }
  return Status::User(fmt::format("the table has no column '{}'", column.name))
      .Hint("leave it out of the declaration");
}

template <typename To>
Result<ColumnPtr> Narrowed(const ColumnPtr& column, const Type& wanted) {
  const ColumnView<int32_t> view(*column);
  MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(column->size()) * sizeof(To));
  To* to = values->mutable_as<To>();
  for (int32_t row = 0; row < column->size(); ++row) {
    to[row] = column->IsNull(row) ? To{0} : static_cast<To>(view[row]);
    if (!column->IsNull(row) && to[row] != view[row]) {
      return Status::Data(fmt::format("{} is no {}", view[row], wanted.ToString())).Hint("declare it as INT");
    }
  }
  return Column::Flat(wanted, column->size(), values, column->validity_buffer());
}

}  // namespace

std::vector<ScanColumn> ScanColumnsOf(const Table& table, const ReadRequest& request) {
  std::vector<ScanColumn> columns;
  size_t next = 0;
  for (const Field& field : request.schema.fields) {
    ScanColumn column{ScanColumn::From::kField, field.name, field.type, {}};
    if (field.name == kSplitColumn) {
      column.from = ScanColumn::From::kSplit;
    } else if (field.name == kOffsetColumn) {
      column.from = ScanColumn::From::kOffset;
    } else if (field.name == kRawColumn) {
      column.from = ScanColumn::From::kRaw;
    } else {
      const TableColumn& declared = table.columns[static_cast<size_t>(request.columns[next++])];
      column.name = declared.name;
      column.from = LineageOf(declared);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

Status CheckScanColumns(const Table& table, const iceberg::Schema& schema) {
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kPhysical) RETURN_IF_ERROR(CheckColumn(column, schema));
  }
  return Status();
}

Status CheckAskedColumns(const Table& table, const std::vector<ScanColumn>& asked,
                         const iceberg::Schema& schema) {
  for (const ScanColumn& each : asked) {
    const TableColumn* column = each.from == ScanColumn::From::kField ? table.FindColumn(each.name) : nullptr;
    if (column == nullptr) continue;
    const Status status = CheckColumn(*column, schema);
    if (status.ok()) continue;
    return Status::User(status.message())
        .Hint(status.hint() + ", or of the SELECT: columns are those of the snapshot's time");
  }
  return Status();
}

void BindScanColumns(const iceberg::Schema& schema, std::vector<ScanColumn>* columns) {
  for (ScanColumn& column : *columns) {
    for (const iceberg::Field& field : schema.fields) {
      if (column.from == ScanColumn::From::kField && field.name == column.name) column.field = field;
    }
  }
}

Type ReadType(const Type& wanted) {
  const bool small = wanted.id() == TypeId::kTinyInt || wanted.id() == TypeId::kSmallInt;
  return small ? Type(TypeId::kInt, wanted.nullable()) : wanted;
}

Result<ColumnPtr> NarrowColumn(const ColumnPtr& column, const Type& wanted) {
  if (wanted.id() == TypeId::kTinyInt) return Narrowed<int8_t>(column, wanted);
  if (wanted.id() == TypeId::kSmallInt) return Narrowed<int16_t>(column, wanted);
  return column;
}

}  // namespace caudal
