#include "format/avro/schema.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace caudal::avro {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 14> kKindNames = {"null",   "boolean", "int",    "long",   "float",
                                                         "double", "bytes",   "string", "record", "enum",
                                                         "array",  "map",     "union",  "fixed"};

// Writes the nodes from the root down; a named type that was written before is its name.
class SchemaPrinter {
 public:
  explicit SchemaPrinter(const Schema& schema) : schema_(schema) {}

  Json Print(NodeId id) {
    const Node& node = schema_.node(id);
    if (node.kind == Kind::kUnion) {
      Json branches = Json::array();
      for (NodeId branch : node.types) branches.push_back(Print(branch));
      return branches;
    }
    const bool named = node.kind == Kind::kRecord || node.kind == Kind::kEnum || node.kind == Kind::kFixed;
    if (named && !printed_.insert(id).second) return node.name;
    if (node.kind < Kind::kRecord && node.attributes.empty()) return std::string(KindName(node.kind));
    Json json = {{"type", std::string(KindName(node.kind))}};
    if (named) json["name"] = node.name;
    if (!node.aliases.empty()) json["aliases"] = node.aliases;
    PrintContent(node, json);
    AddAttributes(node.attributes, json);
    return json;
  }

 private:
  void PrintContent(const Node& node, Json& json) {
    if (node.kind == Kind::kRecord) {
      Json fields = Json::array();
      for (const Field& field : node.fields) fields.push_back(PrintField(field));
      json["fields"] = std::move(fields);
    } else if (node.kind == Kind::kEnum) {
      json["symbols"] = node.symbols;
      if (node.default_symbol) json["default"] = *node.default_symbol;
    } else if (node.kind == Kind::kArray) {
      json["items"] = Print(node.types[0]);
    } else if (node.kind == Kind::kMap) {
      json["values"] = Print(node.types[0]);
    } else if (node.kind == Kind::kFixed) {
      json["size"] = node.size;
    }
  }

  Json PrintField(const Field& field) {
    Json json = {{"name", field.name}};
    json["type"] = Print(field.type);
    if (field.default_json) json["default"] = Json::parse(*field.default_json);
    if (!field.aliases.empty()) json["aliases"] = field.aliases;
    AddAttributes(field.attributes, json);
    return json;
  }

  static void AddAttributes(const std::vector<Attribute>& attributes, Json& json) {
    for (const Attribute& attribute : attributes) json[attribute.name] = Json::parse(attribute.json);
  }

  const Schema& schema_;
  std::set<NodeId> printed_;
};

}  // namespace

std::string_view KindName(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string Schema::ToJson() const { return SchemaPrinter(*this).Print(root_).dump(); }

const std::string* FindAttribute(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute.json;
  }
  return nullptr;
}

std::optional<int64_t> IntegerAttribute(const std::vector<Attribute>& attributes, std::string_view name) {
  const std::string* json = FindAttribute(attributes, name);
  if (json == nullptr) return std::nullopt;
  int64_t value = 0;
  const char* end = json->data() + json->size();
  const auto [stop, error] = std::from_chars(json->data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace caudal::avro
