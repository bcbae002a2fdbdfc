// Rules by which Flink infers result types: of decimal arithmetic, of texts, of nullability.
//
// Pure functions for the Resolve functions of functions/ and for binders. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/type.h"
#include "expr/scalar_function.h"

namespace caudal {

// The DECIMAL that holds every value of an integer type; a DECIMAL is itself. REQUIRES: an exact numeric.
Type AsDecimal(const Type& type);
// DECIMAL(precision, scale) cut to 38 digits: whole digits stay before fraction digits, of which 6 are kept.
Type AdjustedDecimal(int precision, int scale);
Type DecimalSum(const Type& left, const Type& right);
Type DecimalProduct(const Type& left, const Type& right);
Type DecimalQuotient(const Type& left, const Type& right);
Type DecimalRemainder(const Type& left, const Type& right);

bool AnyNullable(std::span<const Type> types);
bool IsInterval(const Type& type);
bool IsText(const Type& type);     // CHAR, VARCHAR, also a bare NULL
bool IsNumeric(const Type& type);  // also a bare NULL

// "argument 1 is INT, expected a string": the error of a Resolve; the caller adds the function's name.
Status WrongArgument(size_t index, const Type& type, std::string_view expected);
// User error unless `low` <= count <= `high` (-1: any number).
Status ExpectCount(size_t count, int low, int high);

// A Signature whose arguments stay as they are and whose result is nullable if an argument is.
Signature Strict(Type result, std::span<const Type> args);

}  // namespace caudal
