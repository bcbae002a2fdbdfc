// Schema: an Avro schema as plain data, with every attribute that it was written with (field-id, element-id,
// logicalType, doc …): what is not Avro's own is kept as JSON text and written back.
//
// A value; immutable once parsed, then readable from any thread. Nodes live in one list and refer to each
// other by number, so that a named type may stand in several places and contain itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};

// "null", "record" …, as a schema writes it.
std::string_view KindName(Kind kind);

using NodeId = int32_t;

struct Attribute {
  std::string name;
  std::string json;  // its value
  bool operator==(const Attribute&) const = default;
};

struct Field {
  std::string name;
  NodeId type = 0;
  std::optional<std::string> default_json;
  std::vector<std::string> aliases;
  std::vector<Attribute> attributes;
  bool operator==(const Field&) const = default;
};

struct Node {
  Kind kind = Kind::kNull;
  std::string name;                  // record, enum, fixed: the full name, "space.of.names.Name"
  std::vector<std::string> aliases;  // of them, full names
  std::vector<Field> fields;         // record
  std::vector<NodeId> types;         // union: its branches; array: its items; map: its values
  std::vector<std::string> symbols;  // enum
  std::optional<std::string> default_symbol;
  int64_t size = 0;         // fixed
  int64_t least_bytes = 0;  // no datum of this type takes fewer
  std::vector<Attribute> attributes;
  bool operator==(const Node&) const = default;
};

class Schema {
 public:
  // Data error, naming the place in the schema, if it is no Avro schema. Names are taken as they come, since
  // others write characters that the specification forbids; they must not be empty or defined twice.
  static Result<Schema> Parse(std::string_view json);

  // The schema as JSON: one line, a primitive without attributes as a bare string (some readers know no other
  // form), a named type in full where it stands first.
  std::string ToJson() const;

  NodeId root() const { return root_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  bool operator==(const Schema&) const = default;

 private:
  friend class SchemaParser;
  std::vector<Node> nodes_;
  NodeId root_ = 0;
};

// The attribute's JSON text, or null. The pointer lives as long as the list.
const std::string* FindAttribute(const std::vector<Attribute>& attributes, std::string_view name);
// An attribute that is an integer of 64 bits ("field-id"); nothing if it is missing or something else.
std::optional<int64_t> IntegerAttribute(const std::vector<Attribute>& attributes, std::string_view name);

}  // namespace caudal::avro
