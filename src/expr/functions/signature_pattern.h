// Pattern<"tti?i>S">: a Resolve function from a pattern, for functions of plain signatures.
//
// Before '>' one letter an argument, those after '?' optional; a letter before '*' may come any number of
// times. Behind it the result. NULL in gives NULL out, so the result is nullable if an argument is; '!' makes
// it always so, '.' never.
//   t text   i INT   l BIGINT   d DOUBLE   n any number   b BOOLEAN   x bytes   a anything
//   S STRING   I INT   L BIGINT   D DOUBLE   B BOOLEAN   X BYTES   0 the first argument's type
//   V VARCHAR of the first argument's length
#pragma once

#include <algorithm>
#include <string_view>

#include "expr/scalar_function.h"

namespace caudal {

// A string literal as a template argument.
template <size_t kSize>
struct SignatureText {
  constexpr SignatureText(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text); }  // NOLINT
  char text[kSize];
};

Result<Signature> MatchSignature(std::string_view pattern, std::span<const Type> args);

template <SignatureText kPattern>
Result<Signature> Pattern(std::span<const Type> args, std::span<const Value* const>) {
  return MatchSignature(kPattern.text, args);
}

}  // namespace caudal
