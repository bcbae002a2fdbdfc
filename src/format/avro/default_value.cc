#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "format/avro/resolution.h"

namespace caudal::avro {
namespace {

using Json = nlohmann::ordered_json;

// Bytes stand in JSON as a string whose characters, U+0000 to U+00FF, are the bytes.
bool BytesOf(const std::string& text, std::string* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      bytes->push_back(text[i]);
    } else if (lead == 0xc2 || lead == 0xc3) {
      bytes->push_back(static_cast<char>((lead & 3) << 6 | (text[++i] & 0x3f)));
    } else {
      return false;
    }
  }
  return true;
}

// A field left out takes its own default, so that a record can go on for ever, or double with each level.
constexpr int kMostValues = 1 << 16;
constexpr int kDeepest = 64;

class DefaultReader {
 public:
  explicit DefaultReader(const Schema& schema) : schema_(schema) {}

  bool Read(NodeId id, const Json& json, Value* out) {
    if (values_ == kMostValues || depth_ == kDeepest) return false;
    ++values_;
    ++depth_;
    const bool read = ReadKind(id, json, out);
    --depth_;
    return read;
  }

 private:
  bool ReadKind(NodeId id, const Json& json, Value* out) {
    const Node& node = schema_.node(id);
    switch (node.kind) {
      case Kind::kRecord:
        return ReadRecord(node, json, out);
      case Kind::kArray:
      case Kind::kMap:
        return ReadItems(node, json, out);
      case Kind::kUnion:
        return ReadUnion(node, json, out);
      case Kind::kNull:
        return json.is_null();
      case Kind::kBoolean:
        if (json.is_boolean()) out->data = json.get<bool>();
        return json.is_boolean();
      case Kind::kBytes:
      case Kind::kString:
      case Kind::kFixed:
      case Kind::kEnum:
        return json.is_string() && ReadText(node, json.get_ref<const std::string&>(), out);
      default:
        return ReadNumber(node.kind, json, out);
    }
  }

  static bool ReadNumber(Kind kind, const Json& json, Value* out) {
    if (kind == Kind::kFloat || kind == Kind::kDouble) {
      if (!json.is_number()) return false;
      kind == Kind::kFloat ? void(out->data = json.get<float>()) : void(out->data = json.get<double>());
      return true;
    }
    // What does not fit 63 bits is unsigned, or a float, to the parser.
    if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX))
      return false;
    const auto number = json.get<int64_t>();
    if (kind == Kind::kInt && number != static_cast<int32_t>(number)) return false;
    kind == Kind::kInt ? void(out->data = static_cast<int32_t>(number)) : void(out->data = number);
    return true;
  }

  static bool ReadText(const Node& node, const std::string& text, Value* out) {
    if (node.kind == Kind::kEnum) {
      const auto found = std::find(node.symbols.begin(), node.symbols.end(), text);
      out->data = static_cast<int32_t>(found - node.symbols.begin());
      return found != node.symbols.end();
    }
    std::string bytes;
    if (node.kind == Kind::kString) {
      bytes = text;
    } else if (!BytesOf(text, &bytes)) {
      return false;
    }
    if (node.kind == Kind::kFixed && static_cast<int64_t>(bytes.size()) != node.size) return false;
    out->data = std::move(bytes);
    return true;
  }

  bool ReadRecord(const Node& node, const Json& json, Value* out) {
    if (!json.is_object()) return false;
    ValueList fields(node.fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field& field = node.fields[i];
      const auto member = json.find(field.name);
      if (member != json.end()) {
        if (!Read(field.type, *member, &fields[i])) return false;
      } else if (!field.default_json || !Read(field.type, Json::parse(*field.default_json), &fields[i])) {
        return false;
      }
    }
    out->data = std::move(fields);
    return true;
  }

  bool ReadItems(const Node& node, const Json& json, Value* out) {
    if (node.kind == Kind::kArray) {
      if (!json.is_array()) return false;
      ValueList items(json.size());
      for (size_t i = 0; i < items.size(); ++i) {
        if (!Read(node.types[0], json[i], &items[i])) return false;
      }
      out->data = std::move(items);
      return true;
    }
    if (!json.is_object()) return false;
    MapEntries entries;
    for (const auto& [key, member] : json.items()) {
      entries.push_back({key, {}});
      if (!Read(node.types[0], member, &entries.back().value)) return false;
    }
    out->data = std::move(entries);
    return true;
  }

  // Of the first branch that has such a value: older versions of the specification allow the first branch
  // alone, so that both read the same.
  bool ReadUnion(const Node& node, const Json& json, Value* out) {
    for (size_t i = 0; i < node.types.size(); ++i) {
      Value value;
      if (!Read(node.types[i], json, &value)) continue;
      *out = Branch(static_cast<int32_t>(i), std::move(value));
      return true;
    }
    return false;
  }

  const Schema& schema_;
  int values_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Value> DefaultValue(const Schema& schema, NodeId type, std::string_view json) {
  ASSIGN_OR_RETURN(const Json document, ParseJsonDocument(json));
  Value value;
  if (DefaultReader(schema).Read(type, document, &value)) return value;
  return Status::Data(
      fmt::format("its default {} is no value of type {}", json, KindName(schema.node(type).kind)));
}

}  // namespace caudal::avro
