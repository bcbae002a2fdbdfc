#include "format/avro/decoder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace caudal::avro {
Result<Value> Decoder::Next() {
  values_left_ = limits_.values;
  Value value;
  if (Read(schema_->root(), 0, &value)) return value;
  const std::string field =
      path_.empty() ? "" : fmt::format("field '{}': ", path_.substr(path_[0] == '.' ? 1 : 0));
  return Status::Data(fmt::format("{}{} (at byte {})", field, what_, failed_at_));
}

int64_t Decoder::MostLeft() const {
  const int64_t least = schema_->node(schema_->root()).least_bytes;
  return least == 0 ? limits_.values : static_cast<int64_t>(left()) / least;
}

bool Decoder::Fail(std::string what) {
  what_ = std::move(what);
  failed_at_ = position_;
  path_.clear();
  return false;
}

bool Decoder::ReadLong(int64_t* value) {
  uint64_t bits = 0;
  for (int shift = 0;; shift += 7) {
    if (position_ == bytes_.size()) return Fail("the bytes end inside a number");
    const auto byte = static_cast<uint8_t>(bytes_[position_]);
    if (shift == 63 && byte > 1) return Fail("a number of more than 64 bits");
    ++position_;
    bits |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  *value = static_cast<int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
  return true;
}

bool Decoder::ReadBytes(std::string_view* bytes) {
  int64_t length = 0;
  if (!ReadLong(&length)) return false;
  if (length < 0 || static_cast<uint64_t>(length) > left()) {
    return Fail(fmt::format("a length of {} where {} bytes are left", length, left()));
  }
  *bytes = bytes_.substr(position_, static_cast<size_t>(length));
  position_ += static_cast<size_t>(length);
  return true;
}

bool Decoder::Read(NodeId id, int depth, Value* out) {
  if (depth > limits_.depth) return Fail(fmt::format("types nest deeper than {} levels", limits_.depth));
  if (--values_left_ < 0) return Fail(fmt::format("more than {} values in one datum", limits_.values));
  const Node& node = schema_->node(id);
  switch (node.kind) {
    case Kind::kRecord:
      return ReadRecord(node, depth, out);
    case Kind::kArray:
    case Kind::kMap:
      return ReadItems(node, depth, out);
    case Kind::kUnion:
      return ReadUnion(node, depth, out);
    default:
      return ReadScalar(node, out);
  }
}

bool Decoder::ReadScalar(const Node& node, Value* out) {
  switch (node.kind) {
    case Kind::kBoolean:
      if (left() == 0) return Fail("the bytes end before a boolean");
      if (static_cast<uint8_t>(bytes_[position_]) > 1) return Fail("a boolean is neither 0 nor 1");
      out->data = bytes_[position_++] == 1;
      return true;
    case Kind::kInt:
    case Kind::kLong:
      return ReadInteger(node.kind, out);
    case Kind::kFloat:
    case Kind::kDouble:
      return ReadFloating(node.kind, out);
    case Kind::kBytes:
    case Kind::kString:
      return ReadText(node.kind, out);
    case Kind::kFixed: {
      if (static_cast<uint64_t>(node.size) > left()) {
        return Fail(fmt::format("a fixed of {} bytes where {} are left", node.size, left()));
      }
      out->data = std::string(bytes_.substr(position_, static_cast<size_t>(node.size)));
      position_ += static_cast<size_t>(node.size);
      return true;
    }
    case Kind::kEnum: {
      if (!ReadInteger(Kind::kInt, out)) return false;
      const auto symbol = std::get<int32_t>(out->data);
      if (symbol < 0 || static_cast<size_t>(symbol) >= node.symbols.size()) {
        return Fail(fmt::format("symbol {} of an enum of {}", symbol, node.symbols.size()));
      }
      return true;
    }
    default:
      return true;  // null has no bytes
  }
}

bool Decoder::ReadInteger(Kind kind, Value* out) {
  int64_t number = 0;
  if (!ReadLong(&number)) return false;
  if (kind == Kind::kLong) {
    out->data = number;
    return true;
  }
  if (number != static_cast<int32_t>(number)) return Fail(fmt::format("{} is no int of 32 bits", number));
  out->data = static_cast<int32_t>(number);
  return true;
}

bool Decoder::ReadText(Kind kind, Value* out) {
  std::string_view bytes;
  if (!ReadBytes(&bytes)) return false;
  if (kind == Kind::kString && !simdjson::validate_utf8(bytes.data(), bytes.size())) {
    position_ -= bytes.size();
    return Fail("a string that is not UTF-8");
  }
  out->data = std::string(bytes);
  return true;
}

bool Decoder::ReadFloating(Kind kind, Value* out) {
  const size_t size = kind == Kind::kFloat ? sizeof(float) : sizeof(double);
  if (left() < size) return Fail(fmt::format("the bytes end inside a {}", KindName(kind)));
  if (kind == Kind::kFloat) {
    float number = 0;
    std::memcpy(&number, bytes_.data() + position_, size);
    out->data = number;
  } else {
    double number = 0;
    std::memcpy(&number, bytes_.data() + position_, size);
    out->data = number;
  }
  position_ += size;
  return true;
}

bool Decoder::ReadRecord(const Node& node, int depth, Value* out) {
  ValueList fields(node.fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!Read(node.fields[i].type, depth + 1, &fields[i])) {
      path_ = "." + node.fields[i].name + path_;
      return false;
    }
  }
  out->data = std::move(fields);
  return true;
}

bool Decoder::ReadCount(const Node& item, int64_t* count) {
  const size_t start = position_;
  if (!ReadLong(count)) return false;
  int64_t size = -1;
  if (*count < 0) {
    if (*count == std::numeric_limits<int64_t>::min()) return Fail("a block of more than 2^63 items");
    *count = -*count;
    if (!ReadLong(&size)) return false;
    if (size < 0 || static_cast<uint64_t>(size) > left()) {
      return Fail(fmt::format("a block of {} bytes where {} are left", size, left()));
    }
  }
  const int64_t room = size < 0 ? static_cast<int64_t>(left()) : size;
  if (*count > values_left_ || (item.least_bytes > 0 && *count > room / item.least_bytes)) {
    const int64_t claimed = *count;
    position_ = start;
    return Fail(fmt::format("a block of {} items where {} bytes are left", claimed, room));
  }
  return true;
}

bool Decoder::ReadItems(const Node& node, int depth, Value* out) {
  const bool map = node.kind == Kind::kMap;
  const Node& item = schema_->node(node.types[0]);
  ValueList items;
  MapEntries entries;
  for (int64_t count = 0;;) {
    if (!ReadCount(item, &count)) return false;
    if (count == 0) break;
    for (int64_t i = 0; i < count; ++i) {
      Value value;
      if (map && !ReadText(Kind::kString, &value)) return false;
      if (map) entries.push_back({std::move(std::get<std::string>(value.data)), {}});
      if (!map) items.emplace_back();
      if (!Read(node.types[0], depth + 1, map ? &entries.back().value : &items.back())) {
        path_ = (map ? "['" + entries.back().key + "']" : fmt::format("[{}]", items.size() - 1)) + path_;
        return false;
      }
    }
  }
  map ? void(out->data = std::move(entries)) : void(out->data = std::move(items));
  return true;
}

bool Decoder::ReadUnion(const Node& node, int depth, Value* out) {
  int64_t branch = 0;
  const size_t start = position_;
  if (!ReadLong(&branch)) return false;
  if (branch < 0 || static_cast<uint64_t>(branch) >= node.types.size()) {
    position_ = start;
    return Fail(fmt::format("branch {} of a union of {}", branch, node.types.size()));
  }
  if (!Read(node.types[static_cast<size_t>(branch)], depth + 1, out)) return false;
  out->branch = static_cast<int32_t>(branch);
  return true;
}

}  // namespace caudal::avro
