#include "format/json_encoder.h"

#include <fmt/format.h>

#include <cmath>

#include "data/column_view.h"
#include "data/int128.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "format/json_value.h"

namespace caudal {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes of UTF-8 stand at the start of `text`; 0 if what stands there is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    const unsigned char second = byte(1);
    return (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ? 0 : 3;
  }
  if (first < 0xF0 || first > 0xF4 || !follows(1) || !follows(2) || !follows(3)) return 0;
  return (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) ? 0 : 4;
}

void AppendBase64(std::string_view bytes, std::string* out) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    const size_t here = std::min<size_t>(3, bytes.size() - i);
    for (size_t b = 0; b < 3; ++b)
      bits = bits << 8 | (b < here ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (size_t d = 0; d < 4; ++d) out->push_back(d <= here ? kDigits[bits >> (18 - 6 * d) & 63] : '=');
  }
}

template <typename Number>
void AppendNumber(Number value, size_t (*format)(Number, char*), std::string* out) {
  char text[kDoubleTextSize];
  const std::string_view written(text, format(value, text));
  if (std::isfinite(value)) {
    out->append(written);
  } else {
    out->append("\"").append(written).append("\"");
  }
}

int64_t IntegerAt(const Column& column, int32_t row) {
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

// Not plain: what Jackson writes unless told otherwise, without trailing zeros, with an exponent where Java's
// BigDecimal.toString has one.
void AppendDecimal(int128_t unscaled, int scale, bool plain, std::string* out) {
  char text[64];
  if (plain) {
    out->append(text, FormatDecimal(unscaled, scale, text));
    return;
  }
  if (unscaled == 0) {
    out->push_back('0');
    return;
  }
  for (; unscaled % 10 == 0; unscaled /= 10) --scale;
  const size_t size = FormatDecimal(unscaled, 0, text);
  const std::string_view sign = unscaled < 0 ? "-" : "";
  const std::string_view digits = std::string_view(text, size).substr(sign.size());
  const int exponent = static_cast<int>(digits.size()) - 1 - scale;
  constexpr int kSmallestPlain = -6;
  if (scale >= 0 && exponent >= kSmallestPlain) {
    out->append(text, FormatDecimal(unscaled, scale, text));
    return;
  }
  out->append(sign).append(digits.substr(0, 1));
  if (digits.size() > 1) out->append(".").append(digits.substr(1));
  fmt::format_to(std::back_inserter(*out), "E{:+}", exponent);
}

}  // namespace

void AppendQuotedJson(std::string_view text, std::string* out) {
  out->push_back('"');
  while (!text.empty()) {
    const char c = text.front();
    size_t taken = 1;
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04X}", static_cast<unsigned>(c));
    } else {
      taken = Utf8Length(text);
      out->append(taken == 0 ? kReplacement : text.substr(0, taken));
      taken = std::max<size_t>(taken, 1);
    }
    text.remove_prefix(taken);
  }
  out->push_back('"');
}

void AppendBytesJson(std::string_view bytes, std::string* out) {
  out->push_back('"');
  AppendBase64(bytes, out);
  out->push_back('"');
}

Result<std::unique_ptr<JsonEncoder>> JsonEncoder::Make(const Schema& schema, JsonOptions options) {
  for (const Field& field : schema.fields) {
    if (CanReadJson(field.type)) continue;
    return Status::User(
        fmt::format("format 'json' cannot write column '{}' of type {}", field.name, field.type.ToString()));
  }
  return std::unique_ptr<JsonEncoder>(new JsonEncoder(schema, std::move(options)));
}

JsonEncoder::JsonEncoder(Schema schema, JsonOptions options)
    : schema_(std::move(schema)), options_(std::move(options)) {
  for (const Field& field : schema_.fields) {
    AppendQuotedJson(field.name, &names_.emplace_back());
    names_.back().push_back(':');
  }
}

Status JsonEncoder::Encode(const Chunk& chunk, std::string* out, std::vector<size_t>* ends) {
  const RowSet rows = chunk.rows();
  for (int32_t i = 0; i < rows.count; ++i) {
    out->push_back('{');
    bool first = true;
    for (size_t c = 0; c < names_.size(); ++c) {
      const Column& column = *chunk.column(static_cast<int>(c));
      if (options_.ignore_null_fields && column.IsNull(rows[i])) continue;
      if (!first) out->push_back(',');
      first = false;
      out->append(names_[c]);
      RETURN_IF_ERROR(AppendValue(column, rows[i], out));
    }
    out->push_back('}');
    ends->push_back(out->size());
  }
  return Status();
}

Status JsonEncoder::AppendValue(const Column& column, int32_t row, std::string* out) const {
  if (column.IsNull(row)) {
    out->append("null");
    return Status();
  }
  const Type& type = column.type();
  char text[64];
  switch (type.id()) {
    case TypeId::kBoolean:
      out->append(ColumnView<uint8_t>(column)[row] != 0 ? "true" : "false");
      break;
    case TypeId::kFloat:
      AppendNumber<float>(ColumnView<float>(column)[row], FormatFloat, out);
      break;
    case TypeId::kDouble:
      AppendNumber<double>(ColumnView<double>(column)[row], FormatDouble, out);
      break;
    case TypeId::kDecimal: {
      const int128_t unscaled = type.physical() == Physical::kInt64 ? ColumnView<int64_t>(column)[row]
                                                                    : ColumnView<int128_t>(column)[row];
      AppendDecimal(unscaled, type.scale(), options_.plain_decimals, out);
      break;
    }
    case TypeId::kChar:
    case TypeId::kVarChar:
      AppendQuotedJson(ColumnView<StringView>(column)[row].view(), out);
      break;
    case TypeId::kBinary:
    case TypeId::kVarBinary:
      AppendBytesJson(ColumnView<StringView>(column)[row].view(), out);
      break;
    case TypeId::kDate:
      out->append("\"").append(text, FormatDate(IntegerAt(column, row), text)).append("\"");
      break;
    case TypeId::kTime:
      out->append("\"")
          .append(text, FormatTime(ColumnView<int32_t>(column)[row], type.precision(), text))
          .append("\"");
      break;
    case TypeId::kTimestamp:
    case TypeId::kTimestampLtz: {
      const bool zulu = type.id() == TypeId::kTimestampLtz;
      const size_t size =
          FormatTimestampIn(options_.timestamp_form, IntegerAt(column, row), type.precision(), zulu, text);
      out->append("\"").append(text, size).append("\"");
      break;
    }
    case TypeId::kArray: {
      const int32_t* offsets = column.values<int32_t>();
      out->push_back('[');
      for (int32_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        if (i > offsets[row]) out->push_back(',');
        RETURN_IF_ERROR(AppendValue(*column.children()[0], i, out));
      }
      out->push_back(']');
      break;
    }
    case TypeId::kMap:
      return AppendMap(column, row, out);
    case TypeId::kRow:
      out->push_back('{');
      for (size_t i = 0; i < column.children().size(); ++i) {
        if (options_.ignore_null_fields && column.children()[i]->IsNull(row)) continue;
        if (out->back() != '{') out->push_back(',');
        AppendQuotedJson(type.children()[i].name, out);
        out->push_back(':');
        RETURN_IF_ERROR(AppendValue(*column.children()[i], row, out));
      }
      out->push_back('}');
      break;
    default:
      out->append(text, FormatInteger(IntegerAt(column, row), text));
  }
  return Status();
}

Status JsonEncoder::AppendMap(const Column& column, int32_t row, std::string* out) const {
  const int32_t* offsets = column.values<int32_t>();
  const Column& keys = *column.children()[0];
  bool first = true;
  out->push_back('{');
  for (int32_t i = offsets[row]; i < offsets[row + 1]; ++i) {
    std::string_view name = options_.null_key_literal;
    if (!keys.IsNull(i)) {
      name = ColumnView<StringView>(keys)[i].view();
    } else if (options_.null_key == JsonOptions::NullKey::kDrop) {
      continue;
    } else if (options_.null_key == JsonOptions::NullKey::kFail) {
      return Status::Data("a map has a NULL key, which JSON cannot write")
          .Hint("set 'json.map-null-key.mode' to 'DROP' or 'LITERAL'");
    }
    if (!first) out->push_back(',');
    first = false;
    // The view of a short key points into the column's own memory, so it stays where it is.
    AppendQuotedJson(name, out);
    out->push_back(':');
    RETURN_IF_ERROR(AppendValue(*column.children()[1], i, out));
  }
  out->push_back('}');
  return Status();
}

}  // namespace caudal
