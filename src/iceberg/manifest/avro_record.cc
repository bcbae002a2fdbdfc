#include "iceberg/manifest/avro_record.h"

#include <fmt/format.h>

namespace caudal::iceberg {
namespace {

std::optional<int64_t> IntegerOf(const avro::Value& value) {
  if (const int32_t* number = value.get<int32_t>()) return *number;
  if (const int64_t* number = value.get<int64_t>()) return *number;
  return std::nullopt;
}

// Key and value of an item of a map with int keys; null if it is none.
std::pair<const int32_t*, const avro::Value*> PairOf(const avro::Value& item) {
  const avro::ValueList* parts = item.get<avro::ValueList>();
  if (parts == nullptr || parts->size() != 2) return {nullptr, nullptr};
  return {(*parts)[0].get<int32_t>(), &(*parts)[1]};
}

Status MissingField(int64_t id, std::string_view name) {
  return Status::Data(fmt::format("the field '{}' (id {}) is missing or of another type", name, id));
}

}  // namespace

AvroLayout LayoutOf(const avro::Node& record) {
  AvroLayout layout;
  for (size_t i = 0; i < record.fields.size(); ++i) {
    if (const auto id = avro::IntegerAttribute(record.fields[i].attributes, "field-id"))
      layout.emplace(*id, i);
  }
  return layout;
}

const avro::Node* RecordInside(const avro::Schema& schema, const avro::Node& record, int64_t id) {
  const AvroLayout layout = LayoutOf(record);
  const auto found = layout.find(id);
  if (found == layout.end()) return nullptr;
  const avro::Node* node = &schema.node(record.fields[found->second].type);
  if (node->kind == avro::Kind::kUnion) {
    for (avro::NodeId branch : node->types) {
      if (schema.node(branch).kind != avro::Kind::kNull) node = &schema.node(branch);
    }
  }
  if (node->kind == avro::Kind::kArray) node = &schema.node(node->types[0]);
  return node->kind == avro::Kind::kRecord ? node : nullptr;
}

AvroRecord::AvroRecord(const AvroLayout& layout, const avro::Value& value, Status* error)
    : layout_(layout), fields_(value.get<avro::ValueList>()), error_(error) {
  if (fields_ == nullptr && error->ok()) *error = Status::Data("a record is missing");
}

const avro::Value* AvroRecord::Find(int64_t id) const {
  const auto found = layout_.find(id);
  if (fields_ == nullptr || found == layout_.end() || found->second >= fields_->size()) return nullptr;
  const avro::Value& value = (*fields_)[found->second];
  return value.is_null() ? nullptr : &value;
}

const avro::ValueList* AvroRecord::List(int64_t id) const {
  const avro::Value* value = Find(id);
  return value == nullptr ? nullptr : value->get<avro::ValueList>();
}

int64_t AvroRecord::Integer(int64_t id, std::string_view name) const {
  const auto number = OptionalInteger(id);
  if (!number && error_->ok()) *error_ = MissingField(id, name);
  return number.value_or(0);
}

std::string AvroRecord::Text(int64_t id, std::string_view name) const {
  auto text = OptionalText(id);
  if (!text && error_->ok()) *error_ = MissingField(id, name);
  return std::move(text).value_or("");
}

std::optional<int64_t> AvroRecord::OptionalInteger(int64_t id) const {
  const avro::Value* value = Find(id);
  return value == nullptr ? std::nullopt : IntegerOf(*value);
}

std::optional<int32_t> AvroRecord::OptionalInt(int64_t id) const {
  const auto number = OptionalInteger(id);
  if (!number || *number != static_cast<int32_t>(*number)) return std::nullopt;
  return static_cast<int32_t>(*number);
}

std::optional<std::string> AvroRecord::OptionalText(int64_t id) const {
  const avro::Value* value = Find(id);
  const std::string* text = value == nullptr ? nullptr : value->get<std::string>();
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<bool> AvroRecord::OptionalBoolean(int64_t id) const {
  const avro::Value* value = Find(id);
  const bool* boolean = value == nullptr ? nullptr : value->get<bool>();
  return boolean == nullptr ? std::nullopt : std::optional(*boolean);
}

std::vector<int64_t> AvroRecord::Integers(int64_t id) const {
  std::vector<int64_t> numbers;
  const avro::ValueList* items = List(id);
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    if (const auto number = IntegerOf((*items)[i])) numbers.push_back(*number);
  }
  return numbers;
}

std::map<int32_t, int64_t> AvroRecord::Counts(int64_t id) const {
  std::map<int32_t, int64_t> counts;
  const avro::ValueList* items = List(id);
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const auto [key, value] = PairOf((*items)[i]);
    if (key == nullptr) continue;
    if (const auto count = IntegerOf(*value)) counts[*key] = *count;
  }
  return counts;
}

std::map<int32_t, std::string> AvroRecord::Bounds(int64_t id) const {
  std::map<int32_t, std::string> bounds;
  const avro::ValueList* items = List(id);
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    const auto [key, value] = PairOf((*items)[i]);
    if (key == nullptr) continue;
    if (const std::string* bound = value->get<std::string>()) bounds[*key] = *bound;
  }
  return bounds;
}

}  // namespace caudal::iceberg
