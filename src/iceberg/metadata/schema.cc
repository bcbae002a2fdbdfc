#include "iceberg/metadata/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace caudal::iceberg {
namespace {

constexpr std::pair<TypeId, std::string_view> kTypeNames[] = {
    {TypeId::kBoolean, "boolean"},
    {TypeId::kInt, "int"},
    {TypeId::kLong, "long"},
    {TypeId::kFloat, "float"},
    {TypeId::kDouble, "double"},
    {TypeId::kDate, "date"},
    {TypeId::kTime, "time"},
    {TypeId::kTimestamp, "timestamp"},
    {TypeId::kTimestampTz, "timestamptz"},
    {TypeId::kTimestampNs, "timestamp_ns"},
    {TypeId::kTimestampTzNs, "timestamptz_ns"},
    {TypeId::kString, "string"},
    {TypeId::kUuid, "uuid"},
    {TypeId::kBinary, "binary"},
    {TypeId::kUnknown, "unknown"},
    {TypeId::kVariant, "variant"},
    {TypeId::kStruct, "struct"},
    {TypeId::kList, "list"},
    {TypeId::kMap, "map"},
};

constexpr int kMaxPrecision = 38;

const Field* FindAmong(const std::vector<Field>& fields, int32_t id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* inside = FindAmong(field.type.fields, id)) return inside;
  }
  return nullptr;
}

int32_t HighestAmong(const std::vector<Field>& fields) {
  int32_t highest = 0;
  for (const Field& field : fields) highest = std::max({highest, field.id, HighestAmong(field.type.fields)});
  return highest;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The whole text as a number from 0 on; -1 if it is none.
int64_t Number(std::string_view text) {
  text = Trimmed(text);
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() && number >= 0 ? number : -1;
}

// What stands between `open` and `close` behind `name`; nothing if the text has another form.
std::optional<std::string_view> Between(std::string_view text, std::string_view name, char open, char close) {
  if (text.substr(0, name.size()) != name) return std::nullopt;
  text = Trimmed(text.substr(name.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<Type> ParseParameterized(std::string_view text) {
  Type type;
  if (const auto inside = Between(text, "decimal", '(', ')')) {
    const size_t comma = inside->find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const int64_t precision = Number(inside->substr(0, comma));
    const int64_t scale = Number(inside->substr(comma + 1));
    if (precision < 1 || precision > kMaxPrecision || scale < 0 || scale > precision) return std::nullopt;
    type.id = TypeId::kDecimal;
    type.precision = static_cast<int>(precision);
    type.scale = static_cast<int>(scale);
    return type;
  }
  if (const auto inside = Between(text, "fixed", '[', ']')) {
    type.id = TypeId::kFixed;
    type.length = Number(*inside);
    if (type.length < 0 || type.length > INT32_MAX) return std::nullopt;
    return type;
  }
  for (const auto& [id, name] :
       {std::pair{TypeId::kGeometry, "geometry"}, {TypeId::kGeography, "geography"}}) {
    const std::string_view prefix = name;
    if (text != prefix && !Between(text, prefix, '(', ')')) continue;
    type.id = id;
    type.parameters = text.substr(prefix.size());
    return type;
  }
  return std::nullopt;
}

}  // namespace

const Field* Schema::FindField(int32_t id) const { return FindAmong(fields, id); }

const Field* Schema::FindField(std::string_view path) const {
  // A name may itself hold a dot, so that the longest name that fits is tried first at each level.
  const std::vector<Field>* level = &fields;
  while (true) {
    const Field* longest = nullptr;
    for (const Field& field : *level) {
      const bool fits = path.substr(0, field.name.size()) == field.name &&
                        (path.size() == field.name.size() || path[field.name.size()] == '.');
      if (fits && (longest == nullptr || field.name.size() > longest->name.size())) longest = &field;
    }
    if (longest == nullptr || longest->name.size() == path.size()) return longest;
    path.remove_prefix(longest->name.size() + 1);
    level = &longest->type.fields;
  }
}

int32_t Schema::HighestId() const { return HighestAmong(fields); }

std::string TypeText(const Type& type) {
  if (type.id == TypeId::kDecimal) return fmt::format("decimal({}, {})", type.precision, type.scale);
  if (type.id == TypeId::kFixed) return fmt::format("fixed[{}]", type.length);
  if (type.id == TypeId::kGeometry) return "geometry" + type.parameters;
  if (type.id == TypeId::kGeography) return "geography" + type.parameters;
  for (const auto& [id, name] : kTypeNames) {
    if (id == type.id) return std::string(name);
  }
  return "unknown";
}

Result<Type> ParsePrimitive(std::string_view text) {
  for (const auto& [id, name] : kTypeNames) {
    if (name == text && id < TypeId::kStruct) return Type(id);
  }
  if (auto type = ParseParameterized(text)) return std::move(*type);
  return Status::Data(fmt::format("the type '{}' is not known", text));
}

}  // namespace caudal::iceberg
