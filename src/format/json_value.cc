#include "format/json_value.h"

#include <limits>

#include "format/json_scalar.h"

namespace caudal {
namespace {

// Everything of a value is read even after a part of it turned out wrong, so that the cursor ends behind it.
void Combine(JsonRead part, JsonRead* whole) {
  if (part == JsonRead::kWrongValue) *whole = part;
}

bool ReadName(JsonCursor* cursor, std::string* name) {
  std::string_view raw;
  if (cursor->kind() != '"' || !cursor->ReadString(&raw)) return false;
  name->resize(raw.size());
  size_t size = 0;
  if (!UnescapeJson(raw, name->data(), &size)) return false;
  name->resize(size);
  if (cursor->kind() != ':') return false;
  cursor->Advance();
  return true;
}

// Calls `member` at each value of the object or array here.
template <typename Member>
JsonRead ReadMembers(JsonCursor* cursor, bool object, Member member) {
  JsonRead result = JsonRead::kDone;
  const char close = object ? '}' : ']';
  cursor->Advance();
  if (cursor->kind() == close) {
    cursor->Advance();
    return result;
  }
  std::string name;
  for (;;) {
    if (object && !ReadName(cursor, &name)) return JsonRead::kWrongJson;
    const JsonRead read = member(name);
    if (read == JsonRead::kWrongJson) return read;
    Combine(read, &result);
    const char next = cursor->kind();
    if (next != ',' && next != close) return JsonRead::kWrongJson;
    cursor->Advance();
    if (next == close) return result;
  }
}

JsonRead ReadRow(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out) {
  ValueList fields(type.children().size());
  const JsonRead read = ReadMembers(cursor, true, [&](const std::string& name) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (type.children()[i].name == name) {
        return ReadJsonValue(cursor, type.children()[i].type, options, &fields[i]);
      }
    }
    return cursor->Skip() ? JsonRead::kDone : JsonRead::kWrongJson;
  });
  *out = Value(std::move(fields));
  return read;
}

JsonRead ReadArray(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out) {
  ValueList elements;
  const JsonRead read = ReadMembers(cursor, false, [&](const std::string&) {
    return ReadJsonValue(cursor, type.children()[0].type, options, &elements.emplace_back());
  });
  *out = Value(std::move(elements));
  return read;
}

JsonRead ReadMap(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out) {
  ValueList entries;
  const JsonRead read = ReadMembers(cursor, true, [&](const std::string& name) {
    Value value;
    const JsonRead result = ReadJsonValue(cursor, type.children()[1].type, options, &value);
    for (size_t i = 0; i < entries.size(); i += 2) {
      if (entries[i] == Value(name)) {
        entries[i + 1] = std::move(value);
        return result;
      }
    }
    entries.push_back(Value(name));
    entries.push_back(std::move(value));
    return result;
  });
  *out = Value(std::move(entries));
  return read;
}

bool ToValue(const JsonScalar& scalar, const Type& type, const JsonOptions& options, Value* out) {
  int64_t integer = 0;
  int32_t small = 0;
  bool fits = true;
  switch (type.id()) {
    case TypeId::kBoolean:
      *out = Value(JsonToBoolean(scalar));
      return true;
    case TypeId::kTinyInt:
    case TypeId::kSmallInt:
    case TypeId::kInt:
    case TypeId::kBigInt: {
      const IntegerRange range = RangeOf(type.id());
      if (!JsonToInteger(scalar, range.min, range.max, &integer)) return false;
      *out = Value(integer);
      return true;
    }
    case TypeId::kFloat: {
      float number = 0;
      if (!JsonToFloat(scalar, &number)) return false;
      *out = Value(static_cast<double>(number));
      return true;
    }
    case TypeId::kDouble: {
      double number = 0;
      if (!JsonToDouble(scalar, &number)) return false;
      *out = Value(number);
      return true;
    }
    case TypeId::kDecimal: {
      int128_t wide = 0;
      if (!JsonToDecimal128(scalar, type.precision(), type.scale(), &wide, &fits)) return false;
      if (fits) *out = type.precision() <= 18 ? Value(static_cast<int64_t>(wide)) : Value(wide);
      return true;
    }
    case TypeId::kChar:
    case TypeId::kVarChar:
      *out = Value(std::string(scalar.text));
      return true;
    case TypeId::kBinary:
    case TypeId::kVarBinary: {
      std::string bytes;
      if (!JsonToBytes(scalar, &bytes)) return false;
      *out = Value(std::move(bytes));
      return true;
    }
    case TypeId::kDate:
      if (!JsonToDate(scalar, &small)) return false;
      *out = Value(static_cast<int64_t>(small));
      return true;
    case TypeId::kTime:
      if (!JsonToTime(scalar, type.precision(), &small)) return false;
      *out = Value(static_cast<int64_t>(small));
      return true;
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz:
      if (!JsonToTimestamp(scalar, type, options.timestamp_form, &integer)) return false;
      *out = Value(integer);
      return true;
    default:
      return false;
  }
}

JsonRead ReadScalarValue(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out) {
  JsonScalar scalar;
  if (!cursor->ReadScalar(&scalar)) return JsonRead::kWrongJson;
  *out = Value();
  if (scalar.kind == JsonScalar::Kind::kNull) return JsonRead::kDone;
  std::string unescaped;
  if (scalar.escaped) {
    unescaped.resize(scalar.text.size());
    size_t size = 0;
    if (!UnescapeJson(scalar.text, unescaped.data(), &size)) return JsonRead::kWrongJson;
    scalar.text = std::string_view(unescaped).substr(0, size);
  }
  if (ToValue(scalar, type, options, out)) return JsonRead::kDone;
  // A wrong part of a nested value is NULL where errors are ignored, as in Flink.
  return options.ignore_parse_errors ? JsonRead::kDone : JsonRead::kWrongValue;
}

}  // namespace

bool CanReadJson(const Type& type) {
  switch (type.id()) {
    case TypeId::kNull:
    case TypeId::kIntervalYearMonth:
    case TypeId::kIntervalDayTime:
      return false;
    case TypeId::kMap:
      return type.children()[0].type.is_string() && CanReadJson(type.children()[1].type);
    default:
      for (const Field& child : type.children()) {
        if (!CanReadJson(child.type)) return false;
      }
      return true;
  }
}

JsonRead ReadJsonValue(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out) {
  const char first = cursor->kind();
  if (first != '{' && first != '[') return ReadScalarValue(cursor, type, options, out);
  if (first == '{' && type.id() == TypeId::kRow) return ReadRow(cursor, type, options, out);
  if (first == '{' && type.id() == TypeId::kMap) return ReadMap(cursor, type, options, out);
  if (first == '[' && type.id() == TypeId::kArray) return ReadArray(cursor, type, options, out);
  std::string_view raw;
  if (!cursor->Skip(&raw)) return JsonRead::kWrongJson;
  *out = Value();
  if (type.is_string()) {
    *out = Value(MinifyJson(raw));
    return JsonRead::kDone;
  }
  return options.ignore_parse_errors ? JsonRead::kDone : JsonRead::kWrongValue;
}

std::string MinifyJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out.push_back(c);
      out.push_back(text[++i]);
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) out.push_back(c);
  }
  return out;
}

}  // namespace caudal
