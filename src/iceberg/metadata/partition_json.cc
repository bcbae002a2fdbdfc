#include "iceberg/metadata/partition_json.h"

#include <nlohmann/json.hpp>

namespace caudal::iceberg {
namespace {

std::vector<int32_t> SourcesFromJson(JsonFields& object) {
  std::vector<int32_t> sources;
  for (const Json& id : object.OptionalArray("source-ids")) {
    if (id.is_number_integer()) sources.push_back(id.get<int32_t>());
  }
  // With several sources older readers still find the first one under its old name.
  if (sources.empty()) sources.push_back(object.Int("source-id"));
  object.Find("source-id");
  return sources;
}

void SourcesToJson(const std::vector<int32_t>& sources, Json* json) {
  if (sources.size() == 1) {
    (*json)["source-id"] = sources[0];
  } else {
    (*json)["source-ids"] = sources;
  }
}

}  // namespace

std::vector<PartitionField> SpecFieldsFromJson(const Json& json, const std::string& place, Status* error) {
  std::vector<PartitionField> fields;
  if (!json.is_array() && error->ok()) *error = Status::Data(place + " is no array");
  for (size_t i = 0; i < json.size() && error->ok(); ++i) {
    JsonFields object(json[i], place + "[" + std::to_string(i) + "]", error);
    PartitionField field;
    field.source_ids = SourcesFromJson(object);
    field.field_id =
        object.Has("field-id") ? object.Int("field-id") : kFirstPartitionFieldId + static_cast<int32_t>(i);
    field.name = object.Text("name");
    field.transform = object.Text("transform");
    field.unknown = object.Unknown();
    fields.push_back(std::move(field));
  }
  return fields;
}

PartitionSpec SpecFromJson(const Json& json, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  PartitionSpec spec;
  spec.spec_id = object.Int("spec-id");
  spec.fields = SpecFieldsFromJson(object.Array("fields"), object.Place("fields"), error);
  spec.unknown = object.Unknown();
  return spec;
}

Json SpecFieldsToJson(const PartitionSpec& spec) {
  Json fields = Json::array();
  for (const PartitionField& field : spec.fields) {
    Json json = Json::object();
    SourcesToJson(field.source_ids, &json);
    json["field-id"] = field.field_id;
    json["name"] = field.name;
    json["transform"] = field.transform;
    WriteUnknown(field.unknown, &json);
    fields.push_back(std::move(json));
  }
  return fields;
}

Json SpecToJson(const PartitionSpec& spec) {
  Json json = {{"spec-id", spec.spec_id}};
  json["fields"] = SpecFieldsToJson(spec);
  WriteUnknown(spec.unknown, &json);
  return json;
}

SortOrder SortOrderFromJson(const Json& json, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  SortOrder order;
  order.order_id = object.Int("order-id");
  const Json& fields = object.Array("fields");
  for (size_t i = 0; i < fields.size() && error->ok(); ++i) {
    JsonFields member(fields[i], object.Place("fields", i), error);
    SortField field;
    field.source_ids = SourcesFromJson(member);
    field.transform = member.Text("transform");
    field.direction = member.Text("direction");
    field.null_order = member.Text("null-order");
    field.unknown = member.Unknown();
    order.fields.push_back(std::move(field));
  }
  order.unknown = object.Unknown();
  return order;
}

Json SortOrderToJson(const SortOrder& order) {
  Json json = {{"order-id", order.order_id}};
  Json fields = Json::array();
  for (const SortField& field : order.fields) {
    Json member = {{"transform", field.transform}};
    SourcesToJson(field.source_ids, &member);
    member["direction"] = field.direction;
    member["null-order"] = field.null_order;
    WriteUnknown(field.unknown, &member);
    fields.push_back(std::move(member));
  }
  json["fields"] = std::move(fields);
  WriteUnknown(order.unknown, &json);
  return json;
}

}  // namespace caudal::iceberg
