// Casts to text and to bytes.
#include <fmt/format.h>

#include <algorithm>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/string_output.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

// Writes a value of a type without children to `out` (kTimestampTextSize bytes or more); returns the size.
// One for each type, so that the loop over rows does not ask for the type again.
struct TextWriter {
  const Type& type;
  TimeZone& zone;

  size_t operator()(uint8_t value, char* out) const {
    const std::string_view word = value != 0 ? "TRUE" : "FALSE";
    std::memcpy(out, word.data(), word.size());
    return word.size();
  }
  size_t operator()(int8_t value, char* out) const { return FormatInteger(value, out); }
  size_t operator()(int16_t value, char* out) const { return FormatInteger(value, out); }
  size_t operator()(int32_t value, char* out) const {
    switch (type.id()) {
      case TypeId::kDate:
        return FormatDate(value, out);
      case TypeId::kTime:
        return FormatTime(value, type.precision(), out);
      case TypeId::kIntervalYearMonth:
        return FormatYearMonthInterval(value, out);
      default:
        return FormatInteger(value, out);
    }
  }
  size_t operator()(int64_t value, char* out) const {
    switch (type.id()) {
      case TypeId::kDecimal:
        return FormatDecimal(value, type.scale(), out);
      case TypeId::kTimestamp:
        return FormatTimestamp(value, type.precision(), out);
      case TypeId::kTimestampLtz:
        return FormatTimestamp(InstantToLocal(value, type.precision(), zone), type.precision(), out);
      case TypeId::kIntervalDayTime:
        return FormatDayTimeInterval(value, out);
      default:
        return FormatInteger(value, out);
    }
  }
  size_t operator()(int128_t value, char* out) const { return FormatDecimal(value, type.scale(), out); }
  size_t operator()(float value, char* out) const { return FormatFloat(value, out); }
  size_t operator()(double value, char* out) const { return FormatDouble(value, out); }
};

constexpr size_t kScalarTextSize = 64;

template <typename F>
auto WithPhysical(Physical physical, F f) {
  switch (physical) {
    case Physical::kBool:
      return f.template operator()<uint8_t>();
    case Physical::kInt8:
      return f.template operator()<int8_t>();
    case Physical::kInt16:
      return f.template operator()<int16_t>();
    case Physical::kInt32:
      return f.template operator()<int32_t>();
    case Physical::kInt128:
      return f.template operator()<int128_t>();
    case Physical::kFloat:
      return f.template operator()<float>();
    case Physical::kDouble:
      return f.template operator()<double>();
    default:
      return f.template operator()<int64_t>();
  }
}

// Cuts text to the target's length; pads a CHAR with spaces. `text` may be returned as it is.
class LengthFitter {
 public:
  explicit LengthFitter(const Type& to)
      : length_(to.length()),
        cuts_(to.length() != Type::kMaxLength),
        pads_(to.id() == TypeId::kChar || to.id() == TypeId::kBinary),
        bytes_(to.is_binary()) {}

  std::string_view Cut(std::string_view text) const {
    if (!cuts_ || text.size() <= static_cast<size_t>(length_)) return text;
    return bytes_ ? text.substr(0, static_cast<size_t>(length_)) : CharacterPrefix(text, length_);
  }
  // How much must be added behind a text that was cut.
  size_t Missing(std::string_view text) const {
    if (!pads_ || !cuts_) return 0;
    const size_t size = bytes_ ? text.size() : static_cast<size_t>(CharacterCount(text));
    return static_cast<size_t>(length_) - std::min(size, static_cast<size_t>(length_));
  }
  char filler() const { return bytes_ ? '\0' : ' '; }
  bool cuts() const { return cuts_; }
  bool pads() const { return pads_; }

 private:
  int32_t length_;
  bool cuts_, pads_, bytes_;
};

void StorePadded(const LengthFitter& fit, std::string_view text, int32_t row, StringOutput* out) {
  const size_t missing = fit.Missing(text);
  char* to = out->Reserve(text.size() + missing);
  std::memcpy(to, text.data(), text.size());
  std::memset(to + text.size(), fit.filler(), missing);
  out->Commit(row, text.size() + missing);
}

// Text to text, bytes to bytes, text to bytes and back: the same bytes, cut or padded.
ColumnPtr FitText(KernelCall& call) {
  const Type& from = call.args[0]->type();
  const Type& to = call.expr.type;
  const LengthFitter fit(to);
  const bool same_family = from.is_string() == to.is_string();
  if (!fit.cuts() || (!fit.pads() && same_family && from.length() <= to.length())) {
    return call.args[0]->WithType(to);
  }
  StringOutput out(call.physical_rows);
  out.KeepAlive(call.args[0]);
  const ColumnView<StringView> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = fit.Cut(values[row].view());
    if (fit.Missing(text) == 0) return out.Share(row, text);
    StorePadded(fit, text, row, &out);
  });
  return out.Finish(to);
}

ColumnPtr NestedToText(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const LengthFitter fit(call.expr.type);
  std::string text;
  ForEachRow(call.rows, [&](int32_t row) {
    text.clear();
    AppendValueText(*call.args[0], row, call.evaluator.zone(), &text);
    StorePadded(fit, fit.Cut(text), row, &out);
  });
  return out.Finish(call.expr.type);
}

}  // namespace

ColumnPtr CastToText(KernelCall& call) {
  const Type& from = call.args[0]->type();
  if (from.physical() == Physical::kString) return FitText(call);
  if (!from.children().empty()) return NestedToText(call);
  const LengthFitter fit(call.expr.type);
  const TextWriter write{from, call.evaluator.zone()};
  StringOutput out(call.physical_rows);
  WithPhysical(from.physical(), [&]<typename T>() {
    const ColumnView<T> values(*call.args[0]);
    ForEachRow(call.rows, [&](int32_t row) {
      if (!fit.cuts()) return out.Commit(row, write(values[row], out.Reserve(kScalarTextSize)));
      char text[kScalarTextSize];
      StorePadded(fit, fit.Cut({text, write(values[row], text)}), row, &out);
    });
  });
  return out.Finish(call.expr.type);
}

ColumnPtr CastBytes(KernelCall& call) { return FitText(call); }

void AppendValueText(const Column& column, int32_t row, TimeZone& zone, std::string* out) {
  const Type& type = column.type();
  if (column.IsNull(row)) {
    *out += "NULL";
    return;
  }
  const size_t at = column.encoding() == Encoding::kConstant ? 0 : static_cast<size_t>(row);
  const std::vector<ColumnPtr>& children = column.children();
  if (type.physical() == Physical::kString) {
    *out += ColumnView<StringView>(column)[row].view();
  } else if (type.id() == TypeId::kRow) {
    for (size_t i = 0; i < children.size(); ++i) {
      *out += i == 0 ? "(" : ", ";
      AppendValueText(*children[i], static_cast<int32_t>(at), zone, out);
    }
    *out += ")";
  } else if (!children.empty()) {
    const bool map = type.id() == TypeId::kMap;
    const int32_t* offsets = column.values<int32_t>();
    *out += map ? "{" : "[";
    for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
      if (i > offsets[at]) *out += ", ";
      AppendValueText(*children[0], i, zone, out);
      if (!map) continue;
      *out += "=";
      AppendValueText(*children[1], i, zone, out);
    }
    *out += map ? "}" : "]";
  } else {
    const TextWriter write{type, zone};
    char text[kScalarTextSize];
    WithPhysical(type.physical(),
                 [&]<typename T>() { out->append(text, write(ColumnView<T>(column)[row], text)); });
  }
}

}  // namespace caudal
