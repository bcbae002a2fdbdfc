#include "format/avro/encoder.h"

#include <fmt/format.h>

#include <cstring>

namespace caudal::avro {
namespace {

class Encoder {
 public:
  Encoder(const Schema& schema, std::string* out) : schema_(schema), out_(out) {}

  bool Write(NodeId id, const Value& value) {
    const Node& node = schema_.node(id);
    switch (node.kind) {
      case Kind::kRecord:
        return WriteRecord(node, value);
      case Kind::kArray:
        return WriteArray(node, value);
      case Kind::kMap:
        return WriteMap(node, value);
      case Kind::kUnion:
        if (value.branch < 0 || static_cast<size_t>(value.branch) >= node.types.size()) return false;
        EncodeLong(value.branch, out_);
        return Write(node.types[static_cast<size_t>(value.branch)], value);
      default:
        return WriteScalar(node, value);
    }
  }

  const std::string& path() const { return path_; }

 private:
  bool WriteScalar(const Node& node, const Value& value) {
    switch (node.kind) {
      case Kind::kNull:
        return value.is_null();
      case Kind::kBoolean:
        if (const bool* v = value.get<bool>()) return out_->push_back(*v ? 1 : 0), true;
        return false;
      case Kind::kInt:
        if (const int32_t* v = value.get<int32_t>()) return EncodeLong(*v, out_), true;
        return false;
      case Kind::kEnum: {
        const int32_t* v = value.get<int32_t>();
        if (v == nullptr || *v < 0 || static_cast<size_t>(*v) >= node.symbols.size()) return false;
        return EncodeLong(*v, out_), true;
      }
      case Kind::kLong:
        if (const int64_t* v = value.get<int64_t>()) return EncodeLong(*v, out_), true;
        return false;
      case Kind::kFloat:
        return WriteBits(value.get<float>());
      case Kind::kDouble:
        return WriteBits(value.get<double>());
      case Kind::kBytes:
      case Kind::kString:
        if (const std::string* v = value.get<std::string>()) return EncodeBytes(*v, out_), true;
        return false;
      default: {
        const std::string* v = value.get<std::string>();  // fixed
        if (v == nullptr || static_cast<int64_t>(v->size()) != node.size) return false;
        return out_->append(*v), true;
      }
    }
  }

  template <typename T>
  bool WriteBits(const T* number) {
    if (number == nullptr) return false;
    char bytes[sizeof(T)];
    std::memcpy(bytes, number, sizeof(T));
    out_->append(bytes, sizeof(T));
    return true;
  }

  bool WriteRecord(const Node& node, const Value& value) {
    const ValueList* fields = value.get<ValueList>();
    if (fields == nullptr || fields->size() != node.fields.size()) return false;
    for (size_t i = 0; i < fields->size(); ++i) {
      if (!Write(node.fields[i].type, (*fields)[i])) return Inside("." + node.fields[i].name);
    }
    return true;
  }

  bool WriteArray(const Node& node, const Value& value) {
    const ValueList* items = value.get<ValueList>();
    if (items == nullptr) return false;
    if (!items->empty()) EncodeLong(static_cast<int64_t>(items->size()), out_);
    for (size_t i = 0; i < items->size(); ++i) {
      if (!Write(node.types[0], (*items)[i])) return Inside(fmt::format("[{}]", i));
    }
    EncodeLong(0, out_);
    return true;
  }

  bool WriteMap(const Node& node, const Value& value) {
    const MapEntries* entries = value.get<MapEntries>();
    if (entries == nullptr) return false;
    if (!entries->empty()) EncodeLong(static_cast<int64_t>(entries->size()), out_);
    for (const MapEntry& entry : *entries) {
      EncodeBytes(entry.key, out_);
      if (!Write(node.types[0], entry.value)) return Inside("['" + entry.key + "']");
    }
    EncodeLong(0, out_);
    return true;
  }

  bool Inside(const std::string& step) {
    path_ = step + path_;
    return false;
  }

  const Schema& schema_;
  std::string* out_;
  std::string path_;
};

}  // namespace

void EncodeLong(int64_t value, std::string* out) {
  uint64_t bits = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (; bits > 0x7f; bits >>= 7) out->push_back(static_cast<char>(bits | 0x80));
  out->push_back(static_cast<char>(bits));
}

void EncodeBytes(std::string_view bytes, std::string* out) {
  EncodeLong(static_cast<int64_t>(bytes.size()), out);
  out->append(bytes);
}

Status Encode(const Schema& schema, const Value& value, std::string* out) {
  Encoder encoder(schema, out);
  if (encoder.Write(schema.root(), value)) return {};
  const std::string& path = encoder.path();
  return Status::Internal(fmt::format("a value that its Avro schema does not have, at '{}'",
                                      path.empty() ? "the root" : path.substr(path[0] == '.' ? 1 : 0)));
}

}  // namespace caudal::avro
