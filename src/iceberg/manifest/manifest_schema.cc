#include "iceberg/manifest/manifest_schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "iceberg/single_value.h"
#include "iceberg/transform.h"

namespace caudal::iceberg {
namespace {

Json RequiredField(std::string_view name, int32_t id, Json type) {
  return {{"name", name}, {"type", std::move(type)}, {"field-id", id}};
}

Json OptionalField(std::string_view name, int32_t id, Json type) {
  return {{"name", name},
          {"type", Json::array({"null", std::move(type)})},
          {"default", nullptr},
          {"field-id", id}};
}

Json Record(std::string_view name, Json fields) {
  return {{"type", "record"}, {"name", name}, {"fields", std::move(fields)}};
}

// Avro's maps have string keys alone: one with ints is an array of pairs.
Json MapOf(int32_t key_id, int32_t value_id, std::string_view value) {
  Json pair =
      Record(fmt::format("k{}_v{}", key_id, value_id),
             Json::array({RequiredField("key", key_id, "int"), RequiredField("value", value_id, value)}));
  return {{"type", "array"}, {"logicalType", "map"}, {"items", std::move(pair)}};
}

Json ListOf(int32_t element_id, Json items) {
  return {{"type", "array"}, {"items", std::move(items)}, {"element-id", element_id}};
}

Json Logical(std::string_view type, std::string_view logical) {
  return {{"type", type}, {"logicalType", logical}};
}

Json TimestampType(std::string_view logical, bool utc) {
  return {{"type", "long"}, {"logicalType", logical}, {"adjust-to-utc", utc}};
}

Json FixedType(const std::string& name, size_t size) {
  return {{"type", "fixed"}, {"name", name}, {"size", size}};
}

Json DecimalType(const Type& type) {
  Json json =
      FixedType(fmt::format("decimal_{}_{}", type.precision, type.scale), DecimalBytes(type.precision));
  json["logicalType"] = "decimal";
  json["precision"] = type.precision;
  json["scale"] = type.scale;
  return json;
}

// Each fixed has a name of its own: Avro would let a second one only name the first, which PyIceberg does not
// read.
Json AvroType(const Type& type, int32_t field_id, std::set<std::string>* defined) {
  Json json;
  switch (type.id) {
    case TypeId::kDate:
      return Logical("int", "date");
    case TypeId::kTime:
      return Logical("long", "time-micros");
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return TimestampType("timestamp-micros", type.id == TypeId::kTimestampTz);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return TimestampType("timestamp-nanos", type.id == TypeId::kTimestampTzNs);
    case TypeId::kBinary:
      return "bytes";
    case TypeId::kDecimal:
      json = DecimalType(type);
      break;
    case TypeId::kUuid:
      json = FixedType("uuid_fixed", 16);
      json["logicalType"] = "uuid";
      break;
    case TypeId::kFixed:
      json = FixedType(fmt::format("fixed_{}", type.length), static_cast<size_t>(type.length));
      break;
    default:
      return TypeText(type);  // the others have Avro's names
  }
  const auto name = json["name"].get<std::string>();
  if (!defined->insert(name).second) json["name"] = fmt::format("{}_{}", name, field_id);
  return json;
}

Json PartitionRecord(const PartitionSpec& spec, const std::vector<Type>& types) {
  Json fields = Json::array();
  std::set<std::string> defined;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    Json json =
        OptionalField(AvroName(field.name), field.field_id, AvroType(types[i], field.field_id, &defined));
    if (AvroName(field.name) != field.name) json["iceberg-field-name"] = field.name;
    fields.push_back(std::move(json));
  }
  return Record("r102", std::move(fields));
}

avro::Schema ParsedSchema(const Json& json) { return avro::Schema::Parse(json.dump()).value(); }

avro::Schema MakeListSchema(int format_version) {
  Json summary = Record("r508", Json::array({
                                    RequiredField("contains_null", 509, "boolean"),
                                    OptionalField("contains_nan", 518, "boolean"),
                                    OptionalField("lower_bound", 510, "bytes"),
                                    OptionalField("upper_bound", 511, "bytes"),
                                }));
  Json fields = Json::array({
      RequiredField("manifest_path", 500, "string"),
      RequiredField("manifest_length", 501, "long"),
      RequiredField("partition_spec_id", 502, "int"),
      RequiredField("content", 517, "int"),
      RequiredField("sequence_number", 515, "long"),
      RequiredField("min_sequence_number", 516, "long"),
      RequiredField("added_snapshot_id", 503, "long"),
      RequiredField("added_files_count", 504, "int"),
      RequiredField("existing_files_count", 505, "int"),
      RequiredField("deleted_files_count", 506, "int"),
      RequiredField("added_rows_count", 512, "long"),
      RequiredField("existing_rows_count", 513, "long"),
      RequiredField("deleted_rows_count", 514, "long"),
      OptionalField("partitions", 507, ListOf(508, std::move(summary))),
      OptionalField("key_metadata", 519, "bytes"),
  });
  if (format_version >= 3) fields.push_back(OptionalField("first_row_id", 520, "long"));
  return ParsedSchema(Record("manifest_file", std::move(fields)));
}

}  // namespace

Result<std::vector<Type>> PartitionTypes(const Schema& schema, const PartitionSpec& spec) {
  std::vector<Type> types;
  for (const PartitionField& field : spec.fields) {
    const Transform transform = Transform::Parse(field.transform);
    if (transform.kind == Transform::Kind::kUnknown || field.source_ids.size() != 1) {
      return Status::User(fmt::format("the partition field '{}' has the transform '{}', which is not known",
                                      field.name, field.transform))
          .Hint("such a table is read, not written");
    }
    const Field* source = schema.FindField(field.source_ids[0]);
    if (source == nullptr) {
      return Status::User(fmt::format("the partition field '{}' is made of column {}, which schema {} lacks",
                                      field.name, field.source_ids[0], schema.schema_id));
    }
    ASSIGN_OR_RETURN(Type type, transform.ResultType(source->type));
    types.push_back(std::move(type));
  }
  return types;
}

avro::Schema ManifestEntrySchema(int format_version, const PartitionSpec& spec,
                                 const std::vector<Type>& types) {
  Json file = Json::array({
      RequiredField("content", 134, "int"),
      RequiredField("file_path", 100, "string"),
      RequiredField("file_format", 101, "string"),
      RequiredField("partition", 102, PartitionRecord(spec, types)),
      RequiredField("record_count", 103, "long"),
      RequiredField("file_size_in_bytes", 104, "long"),
      OptionalField("column_sizes", 108, MapOf(117, 118, "long")),
      OptionalField("value_counts", 109, MapOf(119, 120, "long")),
      OptionalField("null_value_counts", 110, MapOf(121, 122, "long")),
      OptionalField("nan_value_counts", 137, MapOf(138, 139, "long")),
      OptionalField("lower_bounds", 125, MapOf(126, 127, "bytes")),
      OptionalField("upper_bounds", 128, MapOf(129, 130, "bytes")),
      OptionalField("key_metadata", 131, "bytes"),
      OptionalField("split_offsets", 132, ListOf(133, "long")),
      OptionalField("equality_ids", 135, ListOf(136, "int")),
      OptionalField("sort_order_id", 140, "int"),
  });
  if (format_version >= 3) file.push_back(OptionalField("first_row_id", 142, "long"));
  file.push_back(OptionalField("referenced_data_file", 143, "string"));
  if (format_version >= 3) {
    file.push_back(OptionalField("content_offset", 144, "long"));
    file.push_back(OptionalField("content_size_in_bytes", 145, "long"));
  }
  return ParsedSchema(
      Record("manifest_entry", Json::array({
                                   RequiredField("status", 0, "int"),
                                   OptionalField("snapshot_id", 1, "long"),
                                   OptionalField("sequence_number", 3, "long"),
                                   OptionalField("file_sequence_number", 4, "long"),
                                   RequiredField("data_file", 2, Record("r2", std::move(file))),
                               })));
}

const avro::Schema& ManifestListSchema(int format_version) {
  static const avro::Schema& second = *new avro::Schema(MakeListSchema(2));
  static const avro::Schema& third = *new avro::Schema(MakeListSchema(3));
  return format_version >= 3 ? third : second;
}

avro::Value PartitionToAvro(const Type& type, const Value& value) {
  if (value.is_null()) return avro::Branch(0, avro::Value());
  avro::Value avro;
  if (const bool* boolean = std::get_if<bool>(&value.data)) avro.data = *boolean;
  if (const double* number = std::get_if<double>(&value.data)) {
    type.id == TypeId::kFloat ? void(avro.data = static_cast<float>(*number)) : void(avro.data = *number);
  }
  if (const int128_t* number = std::get_if<int128_t>(&value.data)) {
    avro.data = EncodeDecimal(*number, DecimalBytes(type.precision));
  }
  if (const std::string* text = std::get_if<std::string>(&value.data)) avro.data = *text;
  if (const int64_t* number = std::get_if<int64_t>(&value.data)) {
    const bool narrow = type.id == TypeId::kInt || type.id == TypeId::kDate;
    narrow ? void(avro.data = static_cast<int32_t>(*number)) : void(avro.data = *number);
  }
  return avro::Branch(1, std::move(avro));
}

Value PartitionFromAvro(const avro::Schema& schema, avro::NodeId type, const avro::Value& value) {
  const avro::Node* node = &schema.node(type);
  if (node->kind == avro::Kind::kUnion) node = &schema.node(node->types[static_cast<size_t>(value.branch)]);
  if (const bool* boolean = value.get<bool>()) return Value(*boolean);
  if (const int32_t* number = value.get<int32_t>()) return Value(int64_t{*number});
  if (const int64_t* number = value.get<int64_t>()) return Value(*number);
  if (const float* number = value.get<float>()) return Value(static_cast<double>(*number));
  if (const double* number = value.get<double>()) return Value(*number);
  const std::string* text = value.get<std::string>();
  if (text == nullptr) return Value();
  const std::string* logical = avro::FindAttribute(node->attributes, "logicalType");
  const bool decimal =
      logical != nullptr && *logical == "\"decimal\"" && !text->empty() && text->size() <= 16;
  return decimal ? Value(DecodeDecimal(*text)) : Value(*text);
}

std::string AvroName(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string avro;
  for (size_t i = 0; i < name.size(); ++i) {
    if (letter(name[i]) || (i > 0 && digit(name[i]))) {
      avro.push_back(name[i]);
    } else if (digit(name[i])) {
      avro += std::string("_") + name[i];
    } else {
      avro += fmt::format("_x{:X}", static_cast<uint8_t>(name[i]));
    }
  }
  return avro;
}

}  // namespace caudal::iceberg
