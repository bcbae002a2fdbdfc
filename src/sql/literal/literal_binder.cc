#include "sql/literal/literal_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/int128.h"
#include "data/text/number_text.h"
#include "data/text/time_text.h"

namespace caudal::sql {
namespace {

Expr Constant(Type type, Value value, SourceRange range, const SourceText& source) {
  Expr expr = Expr::Literal(type.WithNullable(value.is_null()), std::move(value));
  expr.position = source.Position(range);
  return expr;
}

int32_t CountCharacters(std::string_view text) {
  return static_cast<int32_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// 12 is INT, BIGINT or DECIMAL(digits, 0), whatever is the first to hold it.
Result<Expr> BindInteger(std::string_view digits, int scale, bool negative, SourceRange range,
                         const SourceText& source, int precision) {
  size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  if (digits.size() - zeros > static_cast<size_t>(kMaxDecimalPrecision) || precision > kMaxDecimalPrecision) {
    return ErrorAt(source, range, "a number has at most 38 digits")
        .Hint("write an exponent for a DOUBLE: 1E0");
  }
  int128_t value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  if (negative) value = -value;
  if (scale > 0) {
    Type type = Type::Decimal(std::max(precision, scale), scale);
    Value stored = type.precision() <= 18 ? Value(static_cast<int64_t>(value)) : Value(value);
    return Constant(type, std::move(stored), range, source);
  }
  if (value >= INT32_MIN && value <= INT32_MAX) {
    return Constant(Type(TypeId::kInt), Value(static_cast<int64_t>(value)), range, source);
  }
  if (value >= INT64_MIN && value <= INT64_MAX) {
    return Constant(Type(TypeId::kBigInt), Value(static_cast<int64_t>(value)), range, source);
  }
  return Constant(Type::Decimal(static_cast<int>(digits.size() - zeros), 0), Value(value), range, source);
}

// 1.50 is DECIMAL(3, 2), 0.5 is DECIMAL(2, 1): all digits as written count. Also the text of DECIMAL '-1.50'.
Result<Expr> BindDecimal(std::string_view text, bool negative, SourceRange range, const SourceText& source) {
  std::string_view number = text;
  if (number.starts_with('-') || number.starts_with('+')) {
    negative ^= number.starts_with('-');
    number.remove_prefix(1);
  }
  const size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  if (point < number.size()) digits += number.substr(point + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
    return ErrorAt(source, range, fmt::format("'{}' is not a DECIMAL", text)).Hint("write DECIMAL '1.50'");
  }
  const int scale = point < number.size() ? static_cast<int>(number.size() - point - 1) : 0;
  return BindInteger(digits, scale, negative, range, source, static_cast<int>(digits.size()));
}

int FractionDigits(std::string_view text) {
  size_t point = text.rfind('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

Result<Expr> BindTime(const Literal& literal, SourceRange range, const SourceText& source) {
  const std::string& text = literal.text;
  const int precision = std::min(FractionDigits(text), 9);
  if (literal.kind == LiteralKind::kDate) {
    int32_t days = 0;
    if (text.size() == 10 && ParseDate(text, &days)) {
      return Constant(Type(TypeId::kDate), Value(int64_t{days}), range, source);
    }
    return ErrorAt(source, range, fmt::format("'{}' is not a DATE", text)).Hint("write DATE '2024-02-29'");
  }
  if (literal.kind == LiteralKind::kTime) {
    int32_t millis = 0;
    if (text.size() >= 8 && ParseTime(text, precision, &millis)) {
      return Constant(Type::Time(precision), Value(int64_t{millis}), range, source);
    }
    return ErrorAt(source, range, fmt::format("'{}' is not a TIME", text)).Hint("write TIME '10:11:12'");
  }
  int64_t ticks = 0;
  if (ParseTimestampIn(TimestampForm::kSql, text, precision, &ticks)) {
    return Constant(Type::Timestamp(precision), Value(ticks), range, source);
  }
  return ErrorAt(source, range, fmt::format("'{}' is not a TIMESTAMP", text))
      .Hint("write TIMESTAMP '2024-02-29 10:11:12.123'");
}

int HexDigit(char c) { return c <= '9' ? c - '0' : c - 'A' + 10; }

// Numbers of an interval's text: '1 02:03:04.005' with DAY TO SECOND gives 1, 2, 3, 4 and the fraction.
struct IntervalFields {
  int64_t values[4] = {0, 0, 0, 0};
  int count = 0;
  int64_t fraction_millis = 0;
};

// Separators between the fields, by the unit that follows; fails on anything else.
bool SplitInterval(std::string_view text, std::string_view separators, bool with_fraction,
                   IntervalFields* fields) {
  const char* at = text.data();
  const char* end = text.data() + text.size();
  for (size_t i = 0; i <= separators.size(); ++i) {
    if (at == end || *at < '0' || *at > '9') return false;
    auto [next, error] = std::from_chars(at, end, fields->values[i]);
    if (error != std::errc() || fields->values[i] > 1'000'000'000'000) return false;
    at = next;
    ++fields->count;
    if (i < separators.size()) {
      if (at == end || *at != separators[i]) return false;
      ++at;
    }
  }
  if (with_fraction && at != end && *at == '.') {
    int64_t scale = 100;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at, scale /= 10)
      fields->fraction_millis += (*at - '0') * scale;
  }
  return at == end;
}

constexpr int64_t kUnitMillis[] = {0, 0, 0, 7 * 86'400'000LL, 86'400'000, 3'600'000, 60'000, 1'000};
constexpr int64_t kUnitMonths[] = {12, 3, 1};

}  // namespace

Result<Expr> BindLiteral(const Literal& literal, bool negative, SourceRange range, const SourceText& source) {
  switch (literal.kind) {
    case LiteralKind::kNull:
      return Constant(Type(), Value(), range, source);
    case LiteralKind::kUnknown:
      return Constant(Type(TypeId::kBoolean), Value(), range, source);
    case LiteralKind::kTrue:
    case LiteralKind::kFalse:
      return Constant(Type(TypeId::kBoolean), Value(literal.kind == LiteralKind::kTrue), range, source);
    case LiteralKind::kInteger: {
      Result<Expr> number = BindInteger(literal.text, 0, negative, range, source, 1);
      if (!number.ok() || number->type.id() != TypeId::kDecimal) return number;
      return ErrorAt(source, range, fmt::format("'{}' is beyond BIGINT", literal.text))
          .Hint(fmt::format("write DECIMAL '{}'", literal.text));
    }
    case LiteralKind::kDecimal:
      return BindDecimal(literal.text, negative, range, source);
    case LiteralKind::kApproximate: {
      double value = 0;
      ParseDouble(literal.text, &value);
      return Constant(Type(TypeId::kDouble), Value(negative ? -value : value), range, source);
    }
    case LiteralKind::kString:
      return Constant(Type::Char(CountCharacters(literal.text)), Value(literal.text), range, source);
    case LiteralKind::kBinary: {
      std::string bytes;
      for (size_t i = 0; i + 1 < literal.text.size(); i += 2) {
        bytes += static_cast<char>(HexDigit(literal.text[i]) * 16 + HexDigit(literal.text[i + 1]));
      }
      return Constant(Type::Binary(static_cast<int32_t>(bytes.size())), Value(bytes), range, source);
    }
    case LiteralKind::kDate:
    case LiteralKind::kTime:
    case LiteralKind::kTimestamp:
      return BindTime(literal, range, source);
  }
  return ErrorAt(source, range, "unexpected literal");
}

Result<Expr> BindInterval(const IntervalLiteral& interval, SourceRange range, const SourceText& source) {
  const TimeUnit last = interval.to.value_or(interval.from);
  const bool months = interval.from <= TimeUnit::kMonth;
  std::string separators;
  for (int unit = static_cast<int>(interval.from); unit < static_cast<int>(last); ++unit) {
    if (months) {
      separators.assign(1, '-');  // of one character: g++ 12 warns of an overlap in = "-"
    } else {
      separators += unit == static_cast<int>(TimeUnit::kDay) ? ' ' : ':';
    }
  }
  std::string_view text = interval.text;
  bool negative = interval.negative;
  if (text.starts_with('-') || text.starts_with('+')) {
    negative ^= text.starts_with('-');
    text.remove_prefix(1);
  }
  IntervalFields fields;
  if (!SplitInterval(text, separators, last == TimeUnit::kSecond, &fields)) {
    return ErrorAt(source, range, fmt::format("'{}' is not an interval of this unit", interval.text))
        .Hint("write INTERVAL '5' MINUTE, or INTERVAL '1 02:03:04' DAY TO SECOND");
  }
  const int64_t sign = negative ? -1 : 1;
  if (months) {
    int64_t total = fields.values[0] * kUnitMonths[static_cast<int>(interval.from)] + fields.values[1];
    if (total > INT32_MAX) return ErrorAt(source, range, "the interval is too long");
    return Constant(Type(TypeId::kIntervalYearMonth), Value(sign * total), range, source);
  }
  int64_t total = fields.fraction_millis;
  for (int i = 0; i < fields.count; ++i) {
    const int64_t unit = kUnitMillis[static_cast<int>(interval.from) + i];
    if (fields.values[i] > INT64_MAX / 8 / unit) return ErrorAt(source, range, "the interval is too long");
    total += fields.values[i] * unit;
  }
  return Constant(Type(TypeId::kIntervalDayTime), Value(sign * total), range, source);
}

Expr BindWord(std::string_view word) {
  return Expr::Literal(Type::Char(static_cast<int32_t>(word.size())).WithNullable(false),
                       Value(std::string(word)));
}

}  // namespace caudal::sql
