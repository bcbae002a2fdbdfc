// Casts from text: parsing as Flink's CAST does.
#include <fmt/format.h>

#include <limits>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

std::string NotOfType(std::string_view text, const Type& type) {
  constexpr int kShown = 60;
  const std::string_view shown = CharacterPrefix(text, kShown);
  return fmt::format("'{}{}' is not a {}", shown, shown.size() < text.size() ? "…" : "",
                     type.WithNullable(true).ToString());
}

// `parse(string_view, T* out) -> bool` over every row.
template <typename T, typename F>
ColumnPtr ParseRows(KernelCall& call, F parse) {
  Output<T> out(call.physical_rows);
  const ColumnView<StringView> values(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = values[row].view();
    if (parse(text, &out.values()[row])) return;
    call.errors.Add(row, NotOfType(text, call.expr.type));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

template <typename T>
ColumnPtr ParseIntegers(KernelCall& call) {
  return ParseRows<T>(call, [](std::string_view text, T* out) {
    int64_t value = 0;
    if (!ParseInteger(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), &value))
      return false;
    *out = static_cast<T>(value);
    return true;
  });
}

ColumnPtr ParseDecimals(KernelCall& call) {
  const int precision = call.expr.type.precision();
  const int scale = call.expr.type.scale();
  if (call.expr.type.physical() == Physical::kInt64) {
    return ParseRows<int64_t>(call, [=](std::string_view text, int64_t* out) {
      return ParseDecimal64(text, precision, scale, out);
    });
  }
  return ParseRows<int128_t>(
      call, [=](std::string_view text, int128_t* out) { return ParseDecimal(text, precision, scale, out); });
}

}  // namespace

ColumnPtr CastFromText(KernelCall& call) {
  const int precision = call.expr.type.precision();
  TimeZone& zone = call.evaluator.zone();
  switch (call.expr.type.id()) {
    case TypeId::kBoolean:
      return ParseRows<uint8_t>(call, [](std::string_view text, uint8_t* out) {
        bool value = false;
        if (!ParseBoolean(text, &value)) return false;
        *out = value ? 1 : 0;
        return true;
      });
    case TypeId::kTinyInt:
      return ParseIntegers<int8_t>(call);
    case TypeId::kSmallInt:
      return ParseIntegers<int16_t>(call);
    case TypeId::kInt:
      return ParseIntegers<int32_t>(call);
    case TypeId::kBigInt:
      return ParseIntegers<int64_t>(call);
    case TypeId::kFloat:
      return ParseRows<float>(call, ParseFloat);
    case TypeId::kDouble:
      return ParseRows<double>(call, ParseDouble);
    case TypeId::kDecimal:
      return ParseDecimals(call);
    case TypeId::kDate:
      return ParseRows<int32_t>(call, ParseDate);
    case TypeId::kTime:
      return ParseRows<int32_t>(
          call, [=](std::string_view text, int32_t* out) { return ParseTime(text, precision, out); });
    case TypeId::kTimestamp:
      return ParseRows<int64_t>(
          call, [=](std::string_view text, int64_t* out) { return ParseTimestamp(text, precision, out); });
    default:
      break;
  }
  CHECK(call.expr.type.id() == TypeId::kTimestampLtz);
  return ParseRows<int64_t>(call, [precision, &zone](std::string_view text, int64_t* out) {
    if (!ParseTimestamp(text, precision, out)) return false;
    *out = LocalToInstant(*out, precision, zone);
    return true;
  });
}

}  // namespace caudal
