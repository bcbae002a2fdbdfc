// Temporal functions between times and text: DATE_FORMAT, TO_TIMESTAMP, TO_DATE, TO_TIMESTAMP_LTZ,
// FROM_UNIXTIME, UNIX_TIMESTAMP, CONVERT_TZ. Text that is no time gives NULL where Flink gives NULL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/functions/date_pattern.h"
#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;
using Clock = DatePattern::Clock;

constexpr std::string_view kDefaultPattern = "yyyy-MM-dd HH:mm:ss";

// The compiled pattern of each row, compiled once while it does not change.
class PatternColumn {
 public:
  // `column`: null for the default pattern.
  PatternColumn(KernelCall& call, const Column* column) : call_(call) {
    if (column != nullptr) texts_.emplace(*column);
  }
  // Null when the pattern is none, which is reported for the row.
  const DatePattern* At(int32_t row) {
    const std::string_view text = texts_ ? (*texts_)[row].view() : kDefaultPattern;
    if (!known_ || text != text_) {
      text_ = text;
      known_ = true;
      pattern_ = DatePattern::Compile(text);
    }
    if (pattern_.ok()) return &*pattern_;
    call_.errors.Add(row, pattern_.status().message());
    return nullptr;
  }

 private:
  KernelCall& call_;
  std::optional<TextView> texts_;
  std::string text_;
  bool known_ = false;
  Result<DatePattern> pattern_ = DatePattern();
};

// A literal pattern is tried when the call is bound.
Status CheckPattern(std::span<const Value* const> literals, size_t index) {
  if (index >= literals.size() || literals[index] == nullptr) return Status();
  const std::string* text = std::get_if<std::string>(&literals[index]->data);
  return text == nullptr ? Status() : DatePattern::Compile(*text).status();
}

template <SignatureText kPattern, size_t kIndex>
Result<Signature> PatternSignature(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature(kPattern.text, args));
  RETURN_IF_ERROR(CheckPattern(literals, kIndex));
  return signature;
}

Clock ClockOf(int64_t ticks, int precision) {
  const int64_t unit = TicksPerSecond(precision);
  const int64_t seconds = FloorDivide(ticks, unit);
  return {seconds, static_cast<int32_t>((ticks - seconds * unit) * (1'000'000'000 / unit))};
}

const Column* ArgumentOrNull(const KernelCall& call, size_t index) {
  return index < call.args.size() ? call.args[index].get() : nullptr;
}

// --- to text
// -------------------------------------------------------------------------------------------------

Result<Signature> ResolveDateFormat(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  const bool time = args[0].is_timestamp() || args[0].id() == TypeId::kDate;
  if (!time && !IsText(args[0])) return WrongArgument(0, args[0], "a TIMESTAMP or a string");
  if (!IsText(args[1])) return WrongArgument(1, args[1], "a string");
  RETURN_IF_ERROR(CheckPattern(literals, 1));
  Type first = args[0];
  if (first.id() == TypeId::kNull) first = Type::String();
  if (first.id() == TypeId::kDate) first = Type::Timestamp(3).WithNullable(first.nullable());
  return Signature{Type::String(), {first, args[1].id() == TypeId::kNull ? Type::String() : args[1]}};
}

// A text is "yyyy-MM-dd HH:mm:ss[.fraction]"; anything else is NULL.
bool ReadClock(const Column& column, int32_t row, TimeZone& zone, Clock* clock) {
  const Type& type = column.type();
  int64_t ticks = 0;
  if (type.is_string()) {
    const std::string_view text = TextView(column)[row].view();
    if (text.size() < 11 || !ParseTimestamp(text, 6, &ticks)) return false;
    *clock = ClockOf(ticks, 6);
    return true;
  }
  ticks = ColumnView<int64_t>(column)[row];
  if (type.id() == TypeId::kTimestampLtz) ticks = InstantToLocal(ticks, type.precision(), zone);
  *clock = ClockOf(ticks, type.precision());
  return true;
}

// Writes wall clocks. What is written is often a day or an hour, and the times of a chunk lie close together:
// the last such texts are kept.
class ClockText {
 public:
  // `one_pattern`: all calls are with the same pattern.
  explicit ClockText(bool one_pattern) : one_pattern_(one_pattern) {}

  // Valid until the next call.
  std::string_view Write(const DatePattern& pattern, const Clock& clock) {
    const int64_t steady = one_pattern_ ? pattern.steady_seconds() : 0;
    const int64_t stretch = steady > 0 ? FloorDivide(clock.seconds, steady) : 0;
    Kept& kept = kept_[static_cast<size_t>(stretch) % std::size(kept_)];
    if (steady > 0 && kept.known && kept.stretch == stretch) return kept.text;
    kept.known = true;
    kept.stretch = stretch;
    kept.text.clear();
    pattern.Format(clock, &kept.text);
    return kept.text;
  }

 private:
  struct Kept {
    bool known = false;
    int64_t stretch = 0;  // steady_seconds since 1970
    std::string text;
  };
  bool one_pattern_;
  Kept kept_[8];
};

// The text that all rows have, if the earliest and the latest time tell that there is one: a chunk seldom
// reaches beyond an hour or a day, and whoever comes next has it easier with one value than with thousands of
// equal ones.
std::optional<std::string> TextOfAll(KernelCall& call) {
  const Column& column = *call.args[0];
  const Type& type = column.type();
  if (!type.is_timestamp() || column.encoding() != Encoding::kFlat || call.rows.count == 0) return {};
  if (call.args[1]->encoding() != Encoding::kConstant) return {};
  const Result<DatePattern> pattern = DatePattern::Compile(TextView(*call.args[1])[0].view());
  if (!pattern.ok() || pattern->steady_seconds() == 0) return {};
  const int64_t* values = column.values<int64_t>();
  int64_t earliest = std::numeric_limits<int64_t>::max(), latest = std::numeric_limits<int64_t>::min();
  ForEachRow(call.rows, [&](int32_t row) {
    earliest = std::min(earliest, values[row]);
    latest = std::max(latest, values[row]);
  });
  TimeZone& zone = call.evaluator.zone();
  const auto clock = [&](int64_t ticks) {
    if (type.id() == TypeId::kTimestampLtz) ticks = InstantToLocal(ticks, type.precision(), zone);
    return ClockOf(ticks, type.precision());
  };
  const Clock first = clock(earliest), last = clock(latest);
  const int64_t steady = pattern->steady_seconds();
  if (FloorDivide(first.seconds, steady) != FloorDivide(last.seconds, steady)) return {};
  // Where the clock is put forward or back in between, it may leave the stretch and come again.
  const int64_t unit = TicksPerSecond(type.precision());
  if (FloorDivide(latest, unit) - FloorDivide(earliest, unit) != last.seconds - first.seconds) return {};
  std::string text;
  pattern->Format(first, &text);
  return text;
}

ColumnPtr DateFormatKernel(KernelCall& call) {
  if (std::optional<std::string> text = TextOfAll(call)) {
    return ConstantColumn(call.expr.type, Value(std::move(*text)), call.physical_rows);
  }
  StringOutput out(call.physical_rows);
  PatternColumn patterns(call, call.args[1].get());
  ClockText text(call.args[1]->encoding() == Encoding::kConstant);
  ForEachRow(call.rows, [&](int32_t row) {
    const DatePattern* pattern = patterns.At(row);
    Clock clock;
    if (pattern == nullptr || !ReadClock(*call.args[0], row, call.evaluator.zone(), &clock)) {
      return out.SetNull(row);
    }
    out.Set(row, text.Write(*pattern, clock));
  });
  return out.Finish(call.expr.type);
}

ColumnPtr FromUnixKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  PatternColumn patterns(call, ArgumentOrNull(call, 1));
  const Column* pattern_column = ArgumentOrNull(call, 1);
  ClockText text(pattern_column == nullptr || pattern_column->encoding() == Encoding::kConstant);
  const ColumnView<int64_t> seconds(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const DatePattern* pattern = patterns.At(row);
    if (pattern == nullptr) return out.SetNull(row);
    constexpr int64_t kFarthest = 300'000 * 366 * kSecondsPerDay;
    const int64_t second = std::clamp(seconds[row], -kFarthest, kFarthest);
    out.Set(row, text.Write(*pattern, {call.evaluator.zone().ToLocalSeconds(second), 0}));
  });
  return out.Finish(call.expr.type);
}

// --- from text
// -----------------------------------------------------------------------------------------------

template <SignatureText kPattern>
Result<Signature> ResolveToTimestamp(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature(kPattern.text, args));
  RETURN_IF_ERROR(CheckPattern(literals, 1));
  signature.result = Type::Timestamp(3);
  return signature;
}

// The wall clock of a text, by the pattern or, without one, as CAST reads it.
bool ReadText(std::string_view text, const DatePattern* pattern, Clock* clock) {
  if (pattern != nullptr) return pattern->Parse(text, true, clock);
  int64_t ticks = 0;
  if (!ParseTimestamp(text, 6, &ticks)) return false;
  *clock = ClockOf(ticks, 6);
  return true;
}

int64_t MillisecondTicks(const Clock& clock) {
  return clock.seconds * 1'000'000 + clock.nanos / 1'000'000 * 1000;
}

ColumnPtr ToTimestampKernel(KernelCall& call) {
  Output<int64_t> out(call.physical_rows);
  const bool given = call.args.size() == 2;
  PatternColumn patterns(call, ArgumentOrNull(call, 1));
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const DatePattern* pattern = given ? patterns.At(row) : nullptr;
    Clock clock;
    if ((given && pattern == nullptr) || !ReadText(texts[row].view(), pattern, &clock))
      return out.SetNull(row);
    out.Set(row, MillisecondTicks(clock));
  });
  return out.Finish(call.expr.type);
}

Result<Signature> ResolveToDate(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("t?t>S!", args));
  RETURN_IF_ERROR(CheckPattern(literals, 1));
  signature.result = Type(TypeId::kDate);
  return signature;
}

ColumnPtr ToDateKernel(KernelCall& call) {
  Output<int32_t> out(call.physical_rows);
  const bool given = call.args.size() == 2;
  PatternColumn patterns(call, ArgumentOrNull(call, 1));
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    if (!given) {
      if (!ParseDate(texts[row].view(), &out.values()[row])) out.SetNull(row);
      return;
    }
    const DatePattern* pattern = patterns.At(row);
    Clock clock;
    if (pattern == nullptr || !pattern->Parse(texts[row].view(), false, &clock)) return out.SetNull(row);
    out.Set(row, static_cast<int32_t>(FloorDivide(clock.seconds, kSecondsPerDay)));
  });
  return out.Finish(call.expr.type);
}

// UNIX_TIMESTAMP(): now; (text[, pattern]): the instant of that wall clock, the lowest number when it is
// none.
Result<Signature> ResolveUnix(std::span<const Type> args, std::span<const Value* const> literals) {
  if (args.empty()) return Signature{Type(TypeId::kBigInt, false), {}};
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("t?t>L", args));
  RETURN_IF_ERROR(CheckPattern(literals, 1));
  return signature;
}

ColumnPtr UnixKernel(KernelCall& call) {
  if (call.args.empty()) {
    const int64_t seconds = FloorDivide(call.evaluator.options().now_millis, 1000);
    return ConstantColumn(call.expr.type, Value(seconds), call.physical_rows);
  }
  Output<int64_t> out(call.physical_rows);
  PatternColumn patterns(call, ArgumentOrNull(call, 1));
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const DatePattern* pattern = patterns.At(row);
    Clock clock;
    if (pattern == nullptr) return out.SetNull(row);
    const bool parsed = pattern->Parse(texts[row].view(), false, &clock);
    out.Set(row, parsed ? call.evaluator.zone().ToUtcSeconds(clock.seconds, true)
                        : std::numeric_limits<int64_t>::min());
  });
  return out.Finish(call.expr.type);
}

// --- instants
// ------------------------------------------------------------------------------------------------

// TO_TIMESTAMP_LTZ(number[, precision]) and (text[, pattern[, zone]]).
Result<Signature> ResolveToInstant(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 3));
  if (IsText(args[0])) {
    ASSIGN_OR_RETURN(Signature signature, MatchSignature("t?tt>S!", args));
    RETURN_IF_ERROR(CheckPattern(literals, 1));
    signature.result = Type::TimestampLtz(3);
    return signature;
  }
  if (!args[0].is_numeric()) return WrongArgument(0, args[0], "a number or a string");
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 2));
  int64_t precision = 3;
  if (args.size() == 2) {
    const int64_t* literal = literals[1] == nullptr ? nullptr : std::get_if<int64_t>(&literals[1]->data);
    if (literal == nullptr || *literal < 0 || *literal > 9) {
      return Status::User("the precision must be a literal from 0 to 9");
    }
    precision = *literal;
  }
  const bool whole = args[0].is_integer();
  Signature signature{Type::TimestampLtz(precision < 3 ? 3 : static_cast<int>(precision)),
                      {Type(whole ? TypeId::kBigInt : TypeId::kDouble, args[0].nullable())}};
  if (args.size() == 2) signature.args.push_back(Type(TypeId::kInt, false));
  return signature;
}

// One unit of precision p is 10^-p seconds; as ticks of the result.
ColumnPtr NumberToInstant(KernelCall& call) {
  const int precision = call.args.size() == 2 ? ColumnView<int32_t>(*call.args[1])[call.rows[0]] : 3;
  int64_t factor = call.expr.type.ticks_per_second();
  for (int i = 0; i < precision; ++i) factor /= 10;
  Output<int64_t> out(call.physical_rows);
  const bool whole = call.args[0]->type().id() == TypeId::kBigInt;
  const ColumnView<int64_t> counts(*call.args[0]);
  const ColumnView<double> reals(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    int64_t ticks = 0;
    const bool fits = whole ? !__builtin_mul_overflow(counts[row], factor, &ticks)
                            : std::fabs(reals[row] * static_cast<double>(factor)) < 9.2e18;
    if (!fits) return out.SetNull(row);
    if (!whole) ticks = std::llround(reals[row] * static_cast<double>(factor));
    out.Set(row, TruncateTicks(ticks, call.expr.type.precision()));
  });
  return out.Finish(call.expr.type);
}

// The zones that a column of names asks for; each looked up once a chunk.
class ZoneColumn {
 public:
  explicit ZoneColumn(const Column& column) : names_(column) {}
  TimeZone* At(int32_t row) {
    const std::string name(names_[row].view());
    const auto found = zones_.find(name);
    if (found != zones_.end()) return found->second ? &*found->second : nullptr;
    Result<TimeZone> zone = TimeZone::Find(name);
    auto& entry = zones_[name];
    if (zone.ok()) entry = std::move(zone).value();
    return entry ? &*entry : nullptr;
  }

 private:
  TextView names_;
  std::map<std::string, std::optional<TimeZone>> zones_;
};

// Without a zone the text is in UTC, whatever the session's.
ColumnPtr ToInstantKernel(KernelCall& call) {
  if (!call.args[0]->type().is_string()) return NumberToInstant(call);
  Output<int64_t> out(call.physical_rows);
  PatternColumn patterns(call, ArgumentOrNull(call, 1));
  std::optional<ZoneColumn> zones;
  if (call.args.size() == 3) zones.emplace(*call.args[2]);
  TimeZone utc;
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    const DatePattern* pattern = call.args.size() >= 2 ? patterns.At(row) : nullptr;
    TimeZone* zone = zones ? zones->At(row) : &utc;
    Clock clock;
    const std::string_view text = texts[row].view();
    if (zone != nullptr && ReadText(text, pattern, &clock)) {
      clock.seconds = zone->ToUtcSeconds(clock.seconds);
      return out.Set(row, MillisecondTicks(clock));
    }
    // A default pattern with a fraction behind it is read as such.
    if (zone != nullptr && pattern != nullptr && ReadText(text, nullptr, &clock) && text.size() > 19 &&
        TextView(*call.args[1])[row].view() == kDefaultPattern) {
      clock.seconds = zone->ToUtcSeconds(clock.seconds);
      return out.Set(row, MillisecondTicks(clock));
    }
    call.errors.Add(
        row, zone == nullptr ? "unknown time zone" : fmt::format("'{}' is not a TIMESTAMP_LTZ(3)", text));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

ColumnPtr ConvertZoneKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ZoneColumn from(*call.args[1]);
  ZoneColumn to(*call.args[2]);
  ForEachRow(call.rows, [&](int32_t row) {
    int64_t ticks = 0;
    TimeZone* source = from.At(row);
    TimeZone* target = to.At(row);
    if (source == nullptr || target == nullptr || !ParseTimestamp(texts[row].view(), 0, &ticks)) {
      return out.SetNull(row);
    }
    const int64_t instant = source->ToUtcSeconds(ticks / 1'000'000);
    out.Commit(row, FormatTimestamp(target->ToLocalSeconds(instant) * 1'000'000, 0,
                                    out.Reserve(kTimestampTextSize)));
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyTemporalText = "temporal";

const ScalarFunction kTemporalText[] = {
    {"DATE_FORMAT", kFamilyTemporalText, "A time written by a pattern of java.time.",
     "DATE_FORMAT(TIMESTAMP '2024-02-29 10:00:00', 'yyyy/MM/dd HH')", "2024/02/29 10", ResolveDateFormat,
     DateFormatKernel},
    {"TO_TIMESTAMP", kFamilyTemporalText,
     "The TIMESTAMP(3) that a text is, by a pattern; NULL if it is none.",
     "TO_TIMESTAMP('29/02/2024', 'dd/MM/yyyy')", "2024-02-29 00:00:00.000", ResolveToTimestamp<"t?t>S!">,
     ToTimestampKernel},
    {"TO_DATE", kFamilyTemporalText, "The DATE that a text is, by a pattern; NULL if it is none.",
     "TO_DATE('29.02.2024', 'dd.MM.yyyy')", "2024-02-29", ResolveToDate, ToDateKernel},
    {"TO_TIMESTAMP_LTZ", kFamilyTemporalText,
     "The instant of a count of 10^-p seconds since 1970, or of a text by pattern and zone (UTC).",
     "TO_TIMESTAMP_LTZ(1700000000123, 3)", "2023-11-14 22:13:20.123", ResolveToInstant, ToInstantKernel},
    {"FROM_UNIXTIME", kFamilyTemporalText, "The session's wall clock at so many seconds since 1970.",
     "FROM_UNIXTIME(0, 'yyyy/MM/dd')", "1970/01/01", PatternSignature<"l?t>S!", 1>, FromUnixKernel},
    {"UNIX_TIMESTAMP", kFamilyTemporalText,
     "The seconds since 1970, now or of a text on the session's clock.",
     "UNIX_TIMESTAMP('2024-02-29 10:11:12')", "1709201472", ResolveUnix, UnixKernel, false, false},
    {"CONVERT_TZ", kFamilyTemporalText, "A text's time in another zone; NULL if it is none.",
     "CONVERT_TZ('2024-01-01 00:00:00', 'UTC', 'Asia/Kolkata')", "2024-01-01 05:30:00", Pattern<"ttt>S!">,
     ConvertZoneKernel},
};

}  // namespace

std::span<const ScalarFunction> TemporalTextFunctions() { return kTemporalText; }

}  // namespace caudal
