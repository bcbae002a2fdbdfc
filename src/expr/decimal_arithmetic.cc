#include "expr/decimal_arithmetic.h"

#include <algorithm>
#include <cstdint>

#include "data/text/number_text.h"

namespace caudal {
namespace {

uint128_t Magnitude(int128_t value) {
  return value < 0 ? 0 - static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
}

bool Finish(uint128_t size, bool negative, int precision, int128_t* out) {
  if (size >= static_cast<uint128_t>(PowerOfTen(precision))) return false;
  *out = negative ? -static_cast<int128_t>(size) : static_cast<int128_t>(size);
  return true;
}

// An unsigned number of 256 bits, least significant word first.
struct Wide {
  uint64_t words[4] = {0, 0, 0, 0};

  bool fits128() const { return words[2] == 0 && words[3] == 0; }
  uint128_t low() const { return static_cast<uint128_t>(words[1]) << 64 | words[0]; }
};

Wide Multiply(uint128_t a, uint128_t b) {
  const uint64_t left[2] = {static_cast<uint64_t>(a), static_cast<uint64_t>(a >> 64)};
  const uint64_t right[2] = {static_cast<uint64_t>(b), static_cast<uint64_t>(b >> 64)};
  Wide product;
  for (int i = 0; i < 2; ++i) {
    uint64_t carry = 0;
    for (int j = 0; j < 2; ++j) {
      const uint128_t sum = static_cast<uint128_t>(left[i]) * right[j] + product.words[i + j] + carry;
      product.words[i + j] = static_cast<uint64_t>(sum);
      carry = static_cast<uint64_t>(sum >> 64);
    }
    product.words[i + 2] += carry;
  }
  return product;
}

// Divides in place and returns the remainder.
uint64_t DivideSmall(Wide* value, uint64_t divisor) {
  uint128_t rest = 0;
  for (int i = 3; i >= 0; --i) {
    const uint128_t part = rest << 64 | value->words[i];
    value->words[i] = static_cast<uint64_t>(part / divisor);
    rest = part % divisor;
  }
  return static_cast<uint64_t>(rest);
}

// value ÷ 10^digits, half up: all digits but the last are cut, the last one decides.
Wide DropDigits(Wide value, int digits) {
  for (int cut = digits - 1; cut > 0; cut -= 18) {
    DivideSmall(&value, static_cast<uint64_t>(PowerOfTen(std::min(cut, 18))));
  }
  const bool up = DivideSmall(&value, 10) >= 5;
  for (int i = 0; up && i < 4 && ++value.words[i] == 0; ++i) {
  }
  return value;
}

// value ÷ divisor, half up, by shift and subtract. False when the quotient needs more than 128 bits.
bool DivideLong(const Wide& value, uint128_t divisor, uint128_t* quotient) {
  constexpr uint128_t kTop = static_cast<uint128_t>(1) << 127;
  uint128_t rest = 0;
  uint128_t result = 0;
  for (int bit = 255; bit >= 0; --bit) {
    if ((result & kTop) != 0) return false;
    rest = rest << 1 | (value.words[bit / 64] >> (bit % 64) & 1);  // divisor < 2^127: nothing is shifted out
    result <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      result |= 1;
    }
  }
  *quotient = result + (rest >= divisor - rest ? 1 : 0);
  return true;
}

}  // namespace

bool MultiplyDecimals(int128_t left, int128_t right, int drop, int precision, int128_t* out) {
  const bool negative = (left < 0) != (right < 0);
  Wide product = Multiply(Magnitude(left), Magnitude(right));
  if (drop > 0) product = DropDigits(product, drop);
  return product.fits128() && Finish(product.low(), negative, precision, out);
}

bool DivideDecimals(int128_t left, int128_t right, int shift, int precision, int128_t* out) {
  const bool negative = (left < 0) != (right < 0);
  uint128_t divisor = Magnitude(right);
  if (shift < 0) {
    if (__builtin_mul_overflow(divisor, static_cast<uint128_t>(PowerOfTen(-shift)), &divisor) ||
        divisor >> 127 != 0) {
      *out = 0;
      return true;
    }
    shift = 0;
  }
  if (left != 0 && shift > 38) return false;  // the scale of a quotient never asks for more
  const Wide numerator =
      Multiply(Magnitude(left), static_cast<uint128_t>(PowerOfTen(shift > 38 ? 38 : shift)));
  uint128_t quotient = 0;
  if (numerator.fits128()) {
    const uint128_t value = numerator.low();
    const uint128_t rest = value % divisor;
    quotient = value / divisor + (rest >= divisor - rest ? 1 : 0);
  } else if (!DivideLong(numerator, divisor, &quotient)) {
    return false;
  }
  return Finish(quotient, negative, precision, out);
}

}  // namespace caudal
