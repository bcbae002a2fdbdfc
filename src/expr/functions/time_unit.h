// Units of time in calls: EXTRACT(unit FROM t), FLOOR(t TO unit), TIMESTAMPADD(unit, n, t), TIMESTAMPDIFF.
//
// A unit comes as a literal string argument, made by the binder from the bare word. Stateless.
#pragma once

#include <optional>

#include "expr/scalar_function.h"

namespace caudal {

enum class Unit : uint8_t {
  kYear,
  kQuarter,
  kMonth,
  kWeek,
  kDay,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kNanosecond,
  kEpoch,
  kDow,
  kIsoDow,
  kDoy,
  kIsoYear,
  kDecade,
  kCentury,
  kMillennium,
};

std::optional<Unit> FindUnit(std::string_view word);
// The unit that a literal argument names; User error if it is none.
Result<Unit> LiteralUnit(std::span<const Value* const> literals, size_t index);
// The unit of a bound call. REQUIRES: argument `index` was checked by LiteralUnit.
Unit UnitOf(const KernelCall& call, size_t index);

// A field of the time that is `days` since 1970 and `nanos` of its day, as Flink counts it.
int64_t ExtractField(Unit unit, int64_t days, int64_t nanos);

// FLOOR and CEIL of a time to a unit, for rounding.cc.
Result<Signature> ResolveRoundToUnit(std::span<const Type> args, std::span<const Value* const> literals);
ColumnPtr RoundToUnitKernel(KernelCall& call, bool up);

}  // namespace caudal
