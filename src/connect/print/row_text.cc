#include "connect/print/row_text.h"

#include <fmt/format.h>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "data/value.h"

namespace caudal {
namespace {

void AppendText(const Value& value, const Type& type, std::string* out);

void AppendList(const ValueList& list, const Type& type, std::string* out) {
  const bool map = type.id() == TypeId::kMap;
  out->push_back(map ? '{' : '[');
  for (size_t i = 0; i < list.size(); ++i) {
    const std::vector<Field>& children = type.children();
    const Type& element = type.id() == TypeId::kArray ? children[0].type : children[map ? i % 2 : i].type;
    if (i > 0) out->append(map && i % 2 == 1 ? "=" : ", ");
    AppendText(list[i], element, out);
  }
  out->push_back(map ? '}' : ']');
}

void AppendBytes(std::string_view bytes, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < bytes.size(); ++i) {
    fmt::format_to(std::back_inserter(*out), "{}{}", i > 0 ? ", " : "",
                   static_cast<int>(static_cast<int8_t>(bytes[i])));
  }
  out->push_back(']');
}

void AppendText(const Value& value, const Type& type, std::string* out) {
  if (value.is_null()) {
    out->append("null");
    return;
  }
  char text[64];
  if (const bool* flag = std::get_if<bool>(&value.data)) {
    out->append(*flag ? "true" : "false");
  } else if (const std::string* string = std::get_if<std::string>(&value.data)) {
    type.is_binary() ? AppendBytes(*string, out) : static_cast<void>(out->append(*string));
  } else if (const double* number = std::get_if<double>(&value.data)) {
    const bool narrow = type.id() == TypeId::kFloat;
    out->append(text, narrow ? FormatFloat(static_cast<float>(*number), text) : FormatDouble(*number, text));
  } else if (const ValueList* list = std::get_if<ValueList>(&value.data)) {
    AppendList(*list, type, out);
  } else if (const int128_t* wide = std::get_if<int128_t>(&value.data)) {
    out->append(text, FormatDecimal(*wide, type.scale(), text));
  } else {
    const int64_t integer = std::get<int64_t>(value.data);
    switch (type.id()) {
      case TypeId::kDecimal:
        out->append(text, FormatDecimal(integer, type.scale(), text));
        break;
      case TypeId::kDate:
        out->append(text, FormatDate(integer, text));
        break;
      case TypeId::kTime:
        out->append(text, FormatTime(static_cast<int32_t>(integer), type.precision(), text));
        break;
      case TypeId::kTimestamp:
      case TypeId::kTimestampLtz:
        out->append(text, FormatTimestampIn(TimestampForm::kIso8601, integer, type.precision(),
                                            type.id() == TypeId::kTimestampLtz, text));
        break;
      default:
        out->append(text, FormatInteger(integer, text));
    }
  }
}

}  // namespace

void AppendRowText(const Chunk& chunk, int32_t row, std::string* out) {
  out->append(RowKindName(chunk.kind(row))).push_back('[');
  for (int i = 0; i < chunk.column_count(); ++i) {
    if (i > 0) out->append(", ");
    AppendText(ValueAt(*chunk.column(i), row), chunk.column(i)->type(), out);
  }
  out->push_back(']');
}

}  // namespace caudal
