// The parts of CAST, split by what they convert. Each turns call.args[0] into a column of call.expr.type; a
// row that cannot be converted is reported and NULL.
//
// For cast/*.cc only. REQUIRES for all: IsCastAllowed(argument's type, call.expr.type).
#pragma once

#include <string>

#include "data/text/time_zone.h"
#include "expr/kernel.h"

namespace caudal {

bool IsCastAllowed(const Type& from, const Type& to);

ColumnPtr CastNumber(KernelCall& call);    // BOOLEAN and numbers to each other
ColumnPtr CastFromText(KernelCall& call);  // text to anything but text and bytes
ColumnPtr CastToText(KernelCall& call);    // anything to CHAR, VARCHAR
ColumnPtr CastBytes(KernelCall& call);     // to BINARY, VARBINARY
ColumnPtr CastTime(KernelCall& call);      // DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ to each other

// The value as CAST(… AS STRING) writes it. Slow: one value at a time.
void AppendValueText(const Column& column, int32_t row, TimeZone& zone, std::string* out);

// Ticks of a TIMESTAMP as those of another precision; false when they do not fit.
bool ConvertTicks(int64_t ticks, int from_precision, int to_precision, int64_t* out);
// Local wall clock ticks to an instant's, and back.
int64_t LocalToInstant(int64_t ticks, int precision, TimeZone& zone);
int64_t InstantToLocal(int64_t ticks, int precision, TimeZone& zone);

}  // namespace caudal
