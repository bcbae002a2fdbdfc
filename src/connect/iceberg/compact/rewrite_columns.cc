#include "connect/iceberg/compact/rewrite_columns.h"

#include <fmt/format.h>

#include "connect/iceberg/iceberg_options.h"
#include "connect/iceberg/iceberg_types.h"

namespace caudal {
namespace {

// Types that are read as something smaller, or as bytes without their length.
bool StaysAsItIs(iceberg::TypeId type) {
  return type != iceberg::TypeId::kTime && type != iceberg::TypeId::kUuid && type != iceberg::TypeId::kFixed;
}

}  // namespace

Result<RewriteColumns> RewriteColumns::Of(const iceberg::TableMetadata& table) {
  RewriteColumns made;
  for (const iceberg::Field& field : table.FindSchema(table.current_schema_id)->fields) {
    const std::optional<Type> type = SqlTypeOf(field.type);
    if (!type || !StaysAsItIs(field.type.id)) {
      return Status::User(fmt::format("column '{}' is {}, which is not written anew yet", field.name,
                                      iceberg::TypeText(field.type)))
          .Hint(
              "compact this table with another engine; expiry, orphans and manifests are looked after here");
    }
    const Type exact = type->WithNullable(!field.required);
    made.read.push_back({ScanColumn::From::kField, field.name, exact, field});
    made.content.fields.push_back({field.name, exact});
    made.ids.push_back(field.id);
    made.types.push_back(field.type);
  }
  made.parquet.field_ids = made.ids;
  if (table.format_version >= 3) {
    const Type number(TypeId::kBigInt);
    made.read.push_back({ScanColumn::From::kRowId, kRowIdName, number, {}});
    made.read.push_back({ScanColumn::From::kLastChange, kLastChangeName, number, {}});
    made.content.fields.push_back({kRowIdName, number});
    made.content.fields.push_back({kLastChangeName, number});
    made.parquet.field_ids.push_back(kRowIdField);
    made.parquet.field_ids.push_back(kLastChangeField);
  }
  const auto codec = table.properties.find(kCodecProperty);
  if (codec != table.properties.end()) {
    // A file of another codec is read by everybody too.
    const auto known = ParquetCodec(codec->second);
    if (known.ok()) made.parquet.compression = *known;
  }
  return made;
}

}  // namespace caudal
