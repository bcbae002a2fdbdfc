#include "connect/redis/redis_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace caudal {
namespace {

using Json = nlohmann::json;
using Kind = RedisColumn::Kind;

constexpr std::string_view kFormatNames[] = {"hash", "string", "json"};
constexpr std::string_view kKindNames[] = {"boolean", "integer", "float",     "double",
                                           "decimal", "text",    "timestamp", "bytes"};

template <typename Enum, size_t kCount>
std::optional<Enum> Named(const std::string_view (&names)[kCount], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(names));
}

std::optional<Kind> KindOf(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return Kind::kBoolean;
    case TypeId::kTinyInt:
    case TypeId::kSmallInt:
    case TypeId::kInt:
    case TypeId::kBigInt:
      return Kind::kInteger;
    case TypeId::kFloat:
      return Kind::kFloat;
    case TypeId::kDouble:
      return Kind::kDouble;
    case TypeId::kDecimal:
      return Kind::kDecimal;
    case TypeId::kChar:
    case TypeId::kVarChar:
    case TypeId::kDate:
    case TypeId::kTime:
      return Kind::kText;
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      return Kind::kTimestamp;
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      return Kind::kBytes;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<RedisLayout> RedisLayout::Of(const Schema& columns, std::vector<int> key, std::string key_text,
                                    std::string_view format, int64_t ttl_millis) {
  RedisLayout layout;
  layout.key = std::move(key);
  layout.key_text = std::move(key_text);
  layout.ttl_millis = ttl_millis;
  for (const Field& field : columns.fields) {
    const std::optional<Kind> kind = KindOf(field.type);
    if (!kind) {
      return Status::User(fmt::format("column '{}': connector 'redis' cannot hold {}", field.name,
                                      field.type.ToString()))
          .Hint("cast it to STRING");
    }
    layout.columns.push_back({field.name, *kind});
  }
  const auto named = Named<RedisFormat>(kFormatNames, format);
  if (!named) {
    return Status::User(fmt::format("'caudal.value-format' is '{}'", format))
        .Hint("it can be 'hash', 'string' or 'json'");
  }
  layout.format = *named;
  const size_t values = layout.columns.size() - layout.key.size();
  if (layout.format == RedisFormat::kString && values != 1) {
    return Status::
        User(fmt::format(
                 "'caudal.value-format' = 'string' needs one column beside the primary key, and there are {}",
                 values))
            .Hint("take 'hash' or 'json' for several");
  }
  RETURN_IF_ERROR(layout.key_template().status());
  return layout;
}

std::vector<std::string> RedisLayout::key_names() const {
  std::vector<std::string> names;
  for (const int column : key) names.push_back(columns[static_cast<size_t>(column)].name);
  return names;
}

std::string RedisLayout::ToJson() const {
  Json described = Json::array();
  for (const RedisColumn& column : columns) {
    described.push_back({{"name", column.name}, {"kind", kKindNames[static_cast<size_t>(column.kind)]}});
  }
  return Json{{"columns", described},
              {"key", key},
              {"template", key_text},
              {"format", kFormatNames[static_cast<size_t>(format)]},
              {"ttl_ms", ttl_millis}}
      .dump();
}

Result<RedisLayout> RedisLayout::Parse(std::string_view json) {
  const Status damaged = Status::Data("the header is none of a segment of connector 'redis'");
  const Json header = Json::parse(json, nullptr, false);
  if (!header.is_object() || !header.contains("columns") || !header["columns"].is_array() ||
      !header.contains("key") || !header["key"].is_array() || !header.contains("ttl_ms") ||
      !header["ttl_ms"].is_number_integer() || !header.contains("template") ||
      !header["template"].is_string() || !header.contains("format") || !header["format"].is_string()) {
    return damaged;
  }
  RedisLayout layout;
  for (const Json& column : header["columns"]) {
    if (!column.is_object() || !column.contains("name") || !column["name"].is_string()) return damaged;
    const std::string kind_name = column.contains("kind") && column["kind"].is_string() ? column["kind"] : "";
    const auto kind = Named<Kind>(kKindNames, kind_name);
    if (!kind) return damaged;
    layout.columns.push_back({column["name"], *kind});
  }
  for (const Json& column : header["key"]) {
    if (!column.is_number_unsigned() || column.get<size_t>() >= layout.columns.size()) return damaged;
    layout.key.push_back(column.get<int>());
  }
  const auto format = Named<RedisFormat>(kFormatNames, header["format"].get<std::string>());
  if (!format || layout.key.empty() || layout.key.size() > layout.columns.size()) return damaged;
  layout.format = *format;
  if (layout.format == RedisFormat::kString && layout.columns.size() != layout.key.size() + 1) return damaged;
  layout.key_text = header["template"];
  layout.ttl_millis = header["ttl_ms"];
  if (!layout.key_template().ok()) return damaged;
  return layout;
}

}  // namespace caudal
