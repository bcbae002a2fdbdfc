#include "iceberg/metadata/json_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace caudal::iceberg {
namespace {

const Json& EmptyArray() {
  static const Json& array = *new Json(Json::array());
  return array;
}

const Json& EmptyObject() {
  static const Json& object = *new Json(Json::object());
  return object;
}

// What does not fit 63 bits is unsigned to the parser, or a float.
bool IsInteger(const Json& json) {
  return json.is_number_integer() && (!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX);
}

}  // namespace

JsonFields::JsonFields(const Json& json, std::string place, Status* error)
    : json_(json.is_object() ? json : EmptyObject()), place_(std::move(place)), error_(error) {
  if (!json.is_object()) Fail("is no JSON object");
}

void JsonFields::Fail(std::string what) {
  if (error_->ok())
    *error_ = Status::Data(fmt::format("{} {}", place_.empty() ? "the metadata" : place_, what));
}

std::string JsonFields::Place(std::string_view name) const {
  return place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name);
}

std::string JsonFields::Place(std::string_view name, size_t item) const {
  return fmt::format("{}[{}]", Place(name), item);
}

const Json* JsonFields::Find(std::string_view name) {
  known_.emplace(name);
  const auto found = json_.find(std::string(name));
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

const Json* JsonFields::Need(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr && error_->ok()) *error_ = Status::Data(fmt::format("{} is missing", Place(name)));
  return found;
}

void JsonFields::Wrong(std::string_view name, std::string_view wanted) {
  if (error_->ok()) *error_ = Status::Data(fmt::format("{} is no {}", Place(name), wanted));
}

int64_t JsonFields::Integer(std::string_view name) {
  const Json* found = Need(name);
  return found == nullptr ? 0 : OptionalInteger(name).value_or(0);
}

int32_t JsonFields::Int(std::string_view name) {
  const int64_t number = Integer(name);
  if (number != static_cast<int32_t>(number)) Wrong(name, "integer of 32 bits");
  return static_cast<int32_t>(number);
}

std::string JsonFields::Text(std::string_view name) {
  const Json* found = Need(name);
  return found == nullptr ? std::string() : OptionalText(name).value_or("");
}

bool JsonFields::Boolean(std::string_view name) {
  const Json* found = Need(name);
  if (found == nullptr) return false;
  if (!found->is_boolean()) Wrong(name, "boolean");
  return found->is_boolean() && found->get<bool>();
}

const Json& JsonFields::Array(std::string_view name) {
  return Need(name) == nullptr ? EmptyArray() : OptionalArray(name);
}

const Json& JsonFields::Object(std::string_view name) {
  const Json* found = Need(name);
  if (found == nullptr) return EmptyObject();
  if (!found->is_object()) Wrong(name, "object");
  return found->is_object() ? *found : EmptyObject();
}

std::optional<int64_t> JsonFields::OptionalInteger(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return std::nullopt;
  if (IsInteger(*found)) return found->get<int64_t>();
  Wrong(name, "integer of 64 bits");
  return std::nullopt;
}

std::optional<std::string> JsonFields::OptionalText(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  Wrong(name, "string");
  return std::nullopt;
}

const Json& JsonFields::OptionalArray(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return EmptyArray();
  if (!found->is_array()) Wrong(name, "array");
  return found->is_array() ? *found : EmptyArray();
}

std::optional<std::string> JsonFields::OptionalJson(std::string_view name) {
  const Json* found = Find(name);
  if (found == nullptr) return std::nullopt;
  return found->dump();
}

UnknownFields JsonFields::Unknown() const {
  UnknownFields unknown;
  for (const auto& [name, value] : json_.items()) {
    if (known_.find(name) == known_.end()) unknown.emplace_back(name, value.dump());
  }
  return unknown;
}

void WriteUnknown(const UnknownFields& unknown, Json* json) {
  for (const auto& [name, value] : unknown) (*json)[name] = Json::parse(value);
}

}  // namespace caudal::iceberg
