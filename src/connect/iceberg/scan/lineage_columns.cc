#include "connect/iceberg/scan/lineage_columns.h"

#include <fmt/format.h>

namespace caudal {
namespace {

constexpr int kLineageFormat = 3;

}  // namespace

std::vector<Field> LineageColumns() {
  return {{kRowIdName, Type(TypeId::kBigInt)}, {kLastChangeName, Type(TypeId::kBigInt)}};
}

ScanColumn::From LineageOf(const TableColumn& column) {
  if (column.kind != TableColumn::Kind::kMetadata) return ScanColumn::From::kField;
  return column.metadata_key == kRowIdName ? ScanColumn::From::kRowId : ScanColumn::From::kLastChange;
}

Status CheckLineage(const std::vector<ScanColumn>& columns, int format_version) {
  if (format_version >= kLineageFormat) return Status();
  for (const ScanColumn& column : columns) {
    if (column.from != ScanColumn::From::kRowId && column.from != ScanColumn::From::kLastChange) continue;
    return Status::User(
               fmt::format("metadata column '{}' is of tables of format 3, and this one is of format {}",
                           column.name, format_version))
        .Hint("leave the column out, or make the table with 'format-version' = '3'");
  }
  return Status();
}

}  // namespace caudal
