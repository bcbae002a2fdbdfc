#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_document.h"
#include "format/avro/schema.h"

namespace caudal::avro {
namespace {

// No datum of a schema need be longer than this: larger sums stop here and do not overflow.
constexpr int64_t kLargestLeast = int64_t{1} << 40;

std::optional<Kind> KindOf(std::string_view name) {
  for (Kind kind :
       {Kind::kNull, Kind::kBoolean, Kind::kInt, Kind::kLong, Kind::kFloat, Kind::kDouble, Kind::kBytes,
        Kind::kString, Kind::kRecord, Kind::kEnum, Kind::kArray, Kind::kMap, Kind::kFixed}) {
    if (KindName(kind) == name) return kind;
  }
  if (name == "error") return Kind::kRecord;  // a record that a protocol declares
  return std::nullopt;
}

bool IsAmong(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

// One parse, from the root down. A member function answers the node's number, or sets error_ and answers -1.
class SchemaParser {
 public:
  using Json = nlohmann::ordered_json;

  Result<Schema> Run(const Json& json) {
    schema_.root_ = Parse(json, "", "schema");
    if (error_.ok()) {
      for (NodeId id = 0; error_.ok() && id < static_cast<NodeId>(schema_.nodes_.size()); ++id) Least(id);
    }
    if (!error_.ok()) return error_;
    return std::move(schema_);
  }

 private:
  NodeId Fail(const std::string& place, std::string what) {
    if (error_.ok()) error_ = Status::Data(fmt::format("no Avro schema: {}: {}", place, what));
    return -1;
  }

  NodeId Add(Node node) {
    schema_.nodes_.push_back(std::move(node));
    return static_cast<NodeId>(schema_.nodes_.size() - 1);
  }

  NodeId Parse(const Json& json, const std::string& space, const std::string& place) {
    if (json.is_string()) return ParseName(json.get_ref<const std::string&>(), space, place);
    if (json.is_array()) return ParseUnion(json, space, place);
    if (!json.is_object()) return Fail(place, "a type is a string, an array or an object");
    const auto type = json.find("type");
    if (type == json.end()) return Fail(place, "'type' is missing");
    if (!type->is_string()) return Parse(*type, space, place + ".type");
    const auto& name = type->get_ref<const std::string&>();
    const auto kind = KindOf(name);
    if (!kind) return ParseName(name, space, place);
    if (*kind == Kind::kRecord || *kind == Kind::kEnum || *kind == Kind::kFixed) {
      return ParseNamed(*kind, json, space, place);
    }
    Node node;
    node.kind = *kind;
    if (*kind == Kind::kArray || *kind == Kind::kMap) {
      const char* member = *kind == Kind::kArray ? "items" : "values";
      const auto content = json.find(member);
      if (content == json.end()) return Fail(place, fmt::format("'{}' is missing", member));
      const NodeId id = Parse(*content, space, fmt::format("{}.{}", place, member));
      if (id < 0) return -1;
      node.types = {id};
      KeepAttributes(json, {"type", member}, &node.attributes);
    } else {
      KeepAttributes(json, {"type"}, &node.attributes);
    }
    return Add(std::move(node));
  }

  NodeId ParseName(const std::string& name, const std::string& space, const std::string& place) {
    const auto kind = KindOf(name);
    if (kind && *kind < Kind::kRecord) return Add(Node{.kind = *kind});
    for (const std::string& full : {FullName(name, space), name}) {
      const auto found = named_.find(full);
      if (found != named_.end()) return found->second;
    }
    return Fail(place, fmt::format("no type '{}' is defined before this place", name));
  }

  NodeId ParseUnion(const Json& json, const std::string& space, const std::string& place) {
    Node node{.kind = Kind::kUnion};
    std::set<std::string> seen;
    for (size_t i = 0; i < json.size(); ++i) {
      const std::string branch_place = fmt::format("{}[{}]", place, i);
      const NodeId id = Parse(json[i], space, branch_place);
      if (id < 0) return -1;
      const Node& branch = schema_.node(id);
      if (branch.kind == Kind::kUnion) return Fail(branch_place, "a union stands directly inside a union");
      const std::string key = branch.name.empty() ? std::string(KindName(branch.kind)) : "." + branch.name;
      if (!seen.insert(key).second) {
        return Fail(branch_place,
                    fmt::format("a second branch '{}'", key.substr(branch.name.empty() ? 0 : 1)));
      }
      node.types.push_back(id);
    }
    if (node.types.empty()) return Fail(place, "a union without branches");
    return Add(std::move(node));
  }

  NodeId ParseNamed(Kind kind, const Json& json, const std::string& space, const std::string& place) {
    const std::string name = Text(json, "name");
    if (name.empty()) return Fail(place, fmt::format("{} without a name", KindName(kind)));
    const std::string own_space = json.contains("namespace") ? Text(json, "namespace") : space;
    const std::string full = FullName(name, own_space);
    const NodeId id = Add(Node{.kind = kind, .name = full});
    if (!named_.emplace(full, id).second) return Fail(place, fmt::format("'{}' is defined twice", full));
    const std::string inner_space =
        full.substr(0, full.rfind('.') == std::string::npos ? 0 : full.rfind('.'));
    std::vector<std::string> aliases = Strings(json, "aliases");
    for (std::string& alias : aliases) alias = FullName(alias, inner_space);
    schema_.nodes_[id].aliases = std::move(aliases);
    if (kind == Kind::kRecord) return ParseFields(id, json, inner_space, place);
    if (kind == Kind::kEnum) return ParseSymbols(id, json, place);
    const auto size = json.find("size");
    if (size == json.end() || !size->is_number_integer() || *size < 0 || *size > INT32_MAX) {
      return Fail(place, "'size' of a fixed is no integer from 0 to 2147483647");
    }
    schema_.nodes_[id].size = size->get<int64_t>();
    KeepAttributes(json, {"type", "name", "namespace", "aliases", "size"}, &schema_.nodes_[id].attributes);
    return id;
  }

  NodeId ParseFields(NodeId id, const Json& json, const std::string& space, const std::string& place) {
    const auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array()) return Fail(place, "'fields' of a record is no array");
    std::set<std::string> seen;
    for (const Json& member : *fields) {
      const std::string name = member.is_object() ? Text(member, "name") : "";
      if (name.empty()) return Fail(place, "a field without a name");
      const std::string field_place = fmt::format("{}.{}", place, name);
      if (!seen.insert(name).second) return Fail(field_place, "a second field of this name");
      if (!member.contains("type")) return Fail(field_place, "'type' is missing");
      Field field{.name = name, .type = Parse(member["type"], space, field_place)};
      if (field.type < 0) return -1;
      if (member.contains("default")) field.default_json = member["default"].dump();
      field.aliases = Strings(member, "aliases");
      KeepAttributes(member, {"name", "type", "default", "aliases"}, &field.attributes);
      schema_.nodes_[id].fields.push_back(std::move(field));
    }
    KeepAttributes(json, {"type", "name", "namespace", "aliases", "fields"}, &schema_.nodes_[id].attributes);
    return id;
  }

  NodeId ParseSymbols(NodeId id, const Json& json, const std::string& place) {
    Node& node = schema_.nodes_[id];
    node.symbols = Strings(json, "symbols");
    if (node.symbols.empty()) return Fail(place, "'symbols' of an enum is no array of strings");
    if (std::set<std::string>(node.symbols.begin(), node.symbols.end()).size() != node.symbols.size()) {
      return Fail(place, "an enum with one symbol twice");
    }
    if (json.contains("default")) {
      node.default_symbol = Text(json, "default");
      if (std::find(node.symbols.begin(), node.symbols.end(), *node.default_symbol) == node.symbols.end()) {
        return Fail(place, fmt::format("the default '{}' is no symbol of the enum", *node.default_symbol));
      }
    }
    KeepAttributes(json, {"type", "name", "namespace", "aliases", "symbols", "default"}, &node.attributes);
    return id;
  }

  // The least number of bytes of a datum. A record that contains itself with nothing between that could end
  // it (no union, array or map) has no datum at all.
  int64_t Least(NodeId id) {
    enum { kUnknown, kBusy, kDone };
    states_.resize(schema_.nodes_.size(), kUnknown);
    Node& node = schema_.nodes_[static_cast<size_t>(id)];
    if (states_[id] == kBusy) Fail("record " + node.name, "it contains itself without end");
    if (states_[id] != kUnknown) return node.least_bytes;
    states_[id] = kBusy;
    int64_t least = 1;
    if (node.kind == Kind::kNull) least = 0;
    if (node.kind == Kind::kFloat) least = 4;
    if (node.kind == Kind::kDouble) least = 8;
    if (node.kind == Kind::kFixed) least = node.size;
    if (node.kind == Kind::kRecord) {
      least = 0;
      for (const Field& field : node.fields) {
        if (!error_.ok()) return 0;
        least = std::min(kLargestLeast, least + Least(field.type));
      }
    }
    node.least_bytes = least;
    states_[id] = kDone;
    return least;
  }

  static std::string FullName(const std::string& name, const std::string& space) {
    return space.empty() || name.find('.') != std::string::npos ? name : space + "." + name;
  }

  static std::string Text(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  static std::vector<std::string> Strings(const Json& json, const char* name) {
    std::vector<std::string> strings;
    const auto found = json.find(name);
    if (found == json.end() || !found->is_array()) return strings;
    for (const Json& item : *found) {
      if (item.is_string()) strings.push_back(item.get<std::string>());
    }
    return strings;
  }

  static void KeepAttributes(const Json& json, std::initializer_list<std::string_view> own,
                             std::vector<Attribute>* attributes) {
    for (const auto& [name, value] : json.items()) {
      if (!IsAmong(name, own)) attributes->push_back({name, value.dump()});
    }
  }

  Schema schema_;
  std::map<std::string, NodeId> named_;
  std::vector<int> states_;
  Status error_;
};

// Files of one kind have the same schema, and whoever reads one reads many: a thread remembers the last few.
Result<Schema> Schema::Parse(std::string_view json) {
  struct Parsed {
    std::string json;
    Schema schema;
  };
  constexpr size_t kRemembered = 4, kLongest = 64 * 1024;
  thread_local std::array<Parsed, kRemembered> parsed;
  thread_local size_t oldest = 0;
  for (const Parsed& one : parsed) {
    if (!json.empty() && one.json == json) return one.schema;
  }
  ASSIGN_OR_RETURN(const auto document, ParseJsonDocument(json));
  ASSIGN_OR_RETURN(Schema schema, SchemaParser().Run(document));
  if (json.size() > kLongest) return schema;
  parsed[oldest] = {std::string(json), schema};
  oldest = (oldest + 1) % kRemembered;
  return schema;
}

}  // namespace caudal::avro
