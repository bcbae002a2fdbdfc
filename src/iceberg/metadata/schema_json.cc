#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "iceberg/metadata/schema.h"

namespace caudal::iceberg {
namespace {

Type TypeFromJson(const Json& json, const std::string& place, Status* error);

std::vector<Field> FieldsFromJson(const Json& json, const std::string& place, Status* error) {
  std::vector<Field> fields;
  for (size_t i = 0; i < json.size() && error->ok(); ++i) {
    JsonFields object(json[i], place + "[" + std::to_string(i) + "]", error);
    Field field;
    field.id = object.Int("id");
    field.name = object.Text("name");
    field.required = object.Boolean("required");
    if (const Json* type = object.Find("type")) field.type = TypeFromJson(*type, object.Place("type"), error);
    if (!object.Has("type")) object.Fail("has no 'type'");
    field.doc = object.OptionalText("doc");
    field.initial_default = object.OptionalJson("initial-default");
    field.write_default = object.OptionalJson("write-default");
    field.unknown = object.Unknown();
    fields.push_back(std::move(field));
  }
  return fields;
}

// The element of a list, the key or the value of a map: "<name>-id", "<name>", "<name>-required".
Field PartFromJson(JsonFields& object, const std::string& name, Status* error) {
  Field part;
  part.id = object.Int(name + "-id");
  part.name = name;
  part.required = name == "key" || object.Boolean(name + "-required");
  if (const Json* type = object.Find(name)) part.type = TypeFromJson(*type, object.Place(name), error);
  if (!object.Has(name)) object.Fail("has no '" + name + "'");
  return part;
}

Type TypeFromJson(const Json& json, const std::string& place, Status* error) {
  if (!error->ok()) return Type();
  if (json.is_string()) {
    auto type = ParsePrimitive(json.get_ref<const std::string&>());
    if (!type.ok()) *error = Status::Data(place + ": " + type.status().message());
    return type.ok() ? std::move(type).value() : Type();
  }
  JsonFields object(json, place, error);
  const std::string kind = object.Text("type");
  Type type;
  if (kind == "struct") {
    type.id = TypeId::kStruct;
    type.fields = FieldsFromJson(object.Array("fields"), object.Place("fields"), error);
  } else if (kind == "list") {
    type.id = TypeId::kList;
    type.fields.push_back(PartFromJson(object, "element", error));
  } else if (kind == "map") {
    type.id = TypeId::kMap;
    type.fields.push_back(PartFromJson(object, "key", error));
    type.fields.push_back(PartFromJson(object, "value", error));
  } else {
    object.Fail("is of the type '" + kind + "', which is not known");
  }
  type.unknown = object.Unknown();
  return type;
}

Json TypeToJson(const Type& type);

Json FieldToJson(const Field& field) {
  Json json = {{"id", field.id}, {"name", field.name}, {"required", field.required}};
  json["type"] = TypeToJson(field.type);
  if (field.doc) json["doc"] = *field.doc;
  if (field.initial_default) json["initial-default"] = Json::parse(*field.initial_default);
  if (field.write_default) json["write-default"] = Json::parse(*field.write_default);
  WriteUnknown(field.unknown, &json);
  return json;
}

Json FieldsToJson(const std::vector<Field>& fields) {
  Json json = Json::array();
  for (const Field& field : fields) json.push_back(FieldToJson(field));
  return json;
}

Json TypeToJson(const Type& type) {
  if (!type.is_nested()) return TypeText(type);
  Json json = {{"type", TypeText(type)}};
  if (type.id == TypeId::kStruct) {
    json["fields"] = FieldsToJson(type.fields);
  } else {
    for (const Field& part : type.fields) {
      json[part.name + "-id"] = part.id;
      json[part.name] = TypeToJson(part.type);
      if (part.name != "key") json[part.name + "-required"] = part.required;
    }
  }
  WriteUnknown(type.unknown, &json);
  return json;
}

}  // namespace

Schema SchemaFromJson(const Json& json, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  Schema schema;
  if (object.Text("type") != "struct") object.Fail("is no struct");
  // v1 tables have one schema without a number.
  schema.schema_id = object.Has("schema-id") ? object.Int("schema-id") : 0;
  for (const Json& id : object.OptionalArray("identifier-field-ids")) {
    if (id.is_number_integer()) schema.identifier_field_ids.push_back(id.get<int32_t>());
  }
  schema.fields = FieldsFromJson(object.Array("fields"), object.Place("fields"), error);
  schema.unknown = object.Unknown();
  return schema;
}

Json SchemaToJson(const Schema& schema) {
  Json json = {{"type", "struct"}, {"schema-id", schema.schema_id}};
  if (!schema.identifier_field_ids.empty()) json["identifier-field-ids"] = schema.identifier_field_ids;
  json["fields"] = FieldsToJson(schema.fields);
  WriteUnknown(schema.unknown, &json);
  return json;
}

Result<Schema> ParseSchema(std::string_view json) {
  ASSIGN_OR_RETURN(const Json document, ParseJsonDocument(json));
  Status error;
  Schema schema = SchemaFromJson(document, "schema", &error);
  if (!error.ok()) return error;
  return schema;
}

std::string SchemaText(const Schema& schema) { return SchemaToJson(schema).dump(); }

}  // namespace caudal::iceberg
