#include "connect/filesystem/partition_path.h"

#include <fmt/format.h>

#include "data/column_view.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"

namespace caudal {
namespace {

// Flink's PartitionPathUtils: control characters and these.
constexpr std::string_view kEscaped = "\"#%'*/:=?\\\x7F{[]^";

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || kEscaped.find(c) != std::string_view::npos) {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low < 0) {
      out.push_back(text[i]);
    } else {
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

int64_t WholeNumber(const Column& column, int32_t row) {
  switch (column.type().physical()) {
    case Physical::kInt8:
      return ColumnView<int8_t>(column)[row];
    case Physical::kInt16:
      return ColumnView<int16_t>(column)[row];
    case Physical::kInt32:
      return ColumnView<int32_t>(column)[row];
    default:
      return ColumnView<int64_t>(column)[row];
  }
}

}  // namespace

std::string MakePartitionPath(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string path;
  for (const auto& [name, value] : values) path += Escape(name) + "=" + Escape(value) + "/";
  return path;
}

std::vector<std::pair<std::string, std::string>> ParsePartitionPath(std::string_view relative) {
  std::vector<std::pair<std::string, std::string>> values;
  for (size_t slash = relative.find('/'); slash != std::string_view::npos; slash = relative.find('/')) {
    const std::string_view part = relative.substr(0, slash);
    relative.remove_prefix(slash + 1);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    values.emplace_back(Unescape(part.substr(0, equals)), Unescape(part.substr(equals + 1)));
  }
  return values;
}

bool CanPartitionBy(const Type& type) {
  return type.is_string() || type.is_integer() || type.id() == TypeId::kBoolean ||
         type.id() == TypeId::kDate || type.id() == TypeId::kTimestamp || type.id() == TypeId::kDecimal;
}

std::string PartitionText(const Column& column, int32_t row) {
  const Type& type = column.type();
  char text[64];
  switch (type.id()) {
    case TypeId::kChar:
    case TypeId::kVarChar:
      return std::string(ColumnView<StringView>(column)[row].view());
    case TypeId::kBoolean:
      return ColumnView<uint8_t>(column)[row] != 0 ? "true" : "false";
    case TypeId::kDate:
      return {text, FormatDate(WholeNumber(column, row), text)};
    case TypeId::kTimestamp:
      return {text, FormatTimestamp(WholeNumber(column, row), type.precision(), text)};
    case TypeId::kDecimal: {
      const int128_t unscaled = type.physical() == Physical::kInt64 ? ColumnView<int64_t>(column)[row]
                                                                    : ColumnView<int128_t>(column)[row];
      return {text, FormatDecimal(unscaled, type.scale(), text)};
    }
    default:
      return {text, FormatInteger(WholeNumber(column, row), text)};
  }
}

Result<Value> PartitionValue(std::string_view text, const Type& type, std::string_view null_name) {
  if (text == null_name) return Value();
  int64_t integer = 0;
  int32_t days = 0;
  int128_t unscaled = 0;
  bool flag = false;
  if (type.is_string()) return Value(std::string(text));
  if (type.is_integer() && ParseWholeInteger(text, &integer)) return Value(integer);
  if (type.id() == TypeId::kBoolean && ParseBoolean(text, &flag)) return Value(flag);
  if (type.id() == TypeId::kDate && ParseDate(text, &days)) return Value(int64_t{days});
  if (type.id() == TypeId::kTimestamp && ParseTimestamp(text, type.precision(), &integer))
    return Value(integer);
  if (type.id() == TypeId::kDecimal && ParseDecimal(text, type.precision(), type.scale(), &unscaled)) {
    return type.physical() == Physical::kInt64 ? Value(static_cast<int64_t>(unscaled)) : Value(unscaled);
  }
  return Status::Data(fmt::format("the folder's value '{}' is not a {}", text, type.ToString()));
}

}  // namespace caudal
