// Schema, Field, Type: the columns of a table, by id. Names change; ids are for ever.
//
// Values; immutable once built, then readable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "iceberg/metadata/json_fields.h"

namespace caudal::iceberg {

enum class TypeId : uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,  // v3, as all below it that are no nested types
  kTimestampTzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kUnknown,
  kVariant,
  kGeometry,
  kGeography,
  kStruct,
  kList,  // one field, "element"
  kMap,   // two fields, "key" and "value"
};

struct Field;

struct Type {
  TypeId id = TypeId::kBoolean;
  int precision = 0;          // decimal
  int scale = 0;              // decimal
  int64_t length = 0;         // fixed
  std::string parameters;     // geometry, geography: "(…)" as written
  std::vector<Field> fields;  // nested types
  UnknownFields unknown;      // nested types

  Type();
  explicit Type(TypeId type);
  bool is_nested() const { return id >= TypeId::kStruct; }
  bool operator==(const Type& other) const;
};

struct Field {
  int32_t id = 0;
  std::string name;
  bool required = false;
  Type type;
  std::optional<std::string> doc;
  std::optional<std::string> initial_default;  // v3, JSON: the value in files that lack the column
  std::optional<std::string> write_default;    // v3, JSON: the value where a writer gives none
  UnknownFields unknown;
  bool operator==(const Field&) const = default;
};

// Here, since the fields may only be touched once Field is complete.
inline Type::Type() = default;
inline Type::Type(TypeId type) : id(type) {}
inline bool Type::operator==(const Type& other) const {
  return id == other.id && precision == other.precision && scale == other.scale && length == other.length &&
         parameters == other.parameters && fields == other.fields && unknown == other.unknown;
}

struct Schema {
  int32_t schema_id = 0;
  std::vector<Field> fields;
  std::vector<int32_t> identifier_field_ids;
  UnknownFields unknown;
  bool operator==(const Schema&) const = default;

  // The field of this id at any depth; null if there is none. Lives as long as the schema.
  const Field* FindField(int32_t id) const;
  // The field by its path, "a.b"; null if there is none.
  const Field* FindField(std::string_view path) const;
  int32_t HighestId() const;
};

// "long", "decimal(9,2)", "fixed[16]", "timestamptz"; nested types by their kind alone.
std::string TypeText(const Type& type);
// A primitive type as metadata writes it. Data error if there is no such type.
Result<Type> ParsePrimitive(std::string_view text);

Schema SchemaFromJson(const Json& json, const std::string& place, Status* error);
Json SchemaToJson(const Schema& schema);
// The same as text, as a manifest keeps it.
Result<Schema> ParseSchema(std::string_view json);
std::string SchemaText(const Schema& schema);

}  // namespace caudal::iceberg
