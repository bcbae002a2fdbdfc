// The canonical text of a UUID (36 lower-case characters) and its 16 bytes: half the size, as a key.
#pragma once

#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <string_view>

namespace caudal {

inline constexpr size_t kUuidText = 36;
inline constexpr size_t kUuidBytes = 16;

namespace internal {

// Eight lower-case hexadecimal digits to four bytes; false if there is any other character.
inline bool ParseHex8(const char* text, char* bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kHigh = 0x80 * kOnes;
  uint64_t x;
  std::memcpy(&x, text, 8);
  // The high bit of each byte tells whether the character is at or past a bound; a set one is no ASCII.
  if ((x & kHigh) != 0) return false;
  const uint64_t digit = (x + (0x80 - '0') * kOnes) & ~(x + (0x80 - ('9' + 1)) * kOnes);
  const uint64_t letter = (x + (0x80 - 'a') * kOnes) & ~(x + (0x80 - ('f' + 1)) * kOnes);
  if (((digit | letter) & kHigh) != kHigh) return false;
  const uint64_t nibbles = (x & 0x0f * kOnes) + (x >> 6 & kOnes) * 9;
  uint64_t packed = (nibbles << 4 | nibbles >> 8) & 0x00ff00ff00ff00ffu;
  packed = (packed | packed >> 8) & 0x0000ffff0000ffffu;
  const uint32_t four = static_cast<uint32_t>(packed | packed >> 16);
  std::memcpy(bytes, &four, 4);
  return true;
}

#ifdef __SSSE3__
// The same for sixteen digits at once.
inline bool ParseHex16(__m128i text, char* bytes) {
  const __m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const __m128i letter = _mm_sub_epi8(text, _mm_set1_epi8('a'));
  const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
  if (_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)) != 0xffff) return false;
  const __m128i nibbles = _mm_or_si128(_mm_and_si128(is_digit, digit),
                                       _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
  const __m128i pairs = _mm_maddubs_epi16(nibbles, _mm_set1_epi16(0x0110));  // 16 · first + second
  _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), _mm_packus_epi16(pairs, pairs));
  return true;
}
#endif

}  // namespace internal

// Writes the 16 bytes of a canonical UUID; false (and `bytes` unspecified) if `text` is none.
inline bool ParseUuid(std::string_view text, char* bytes) {
  if (text.size() != kUuidText) return false;
  const char* t = text.data();
  if (t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-') return false;
#ifdef __SSSE3__
  auto load = [t](int at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(t + at)); };
  // Two groups of four and the dash between them, without the dash.
  const __m128i without_dash = _mm_setr_epi8(0, 1, 2, 3, 5, 6, 7, 8, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(t + 28));
  return internal::ParseHex16(_mm_unpacklo_epi64(load(0), _mm_shuffle_epi8(load(9), without_dash)), bytes) &&
         internal::ParseHex16(_mm_unpacklo_epi64(_mm_shuffle_epi8(load(19), without_dash), last), bytes + 8);
#else
  char middle[16];  // the digits of the three short groups and of the long one's first four
  std::memcpy(middle, t + 9, 4);
  std::memcpy(middle + 4, t + 14, 4);
  std::memcpy(middle + 8, t + 19, 4);
  std::memcpy(middle + 12, t + 24, 4);
  return internal::ParseHex8(t, bytes) && internal::ParseHex8(middle, bytes + 4) &&
         internal::ParseHex8(middle + 8, bytes + 8) && internal::ParseHex8(t + 28, bytes + 12);
#endif
}

// Writes the 36 characters.
inline void FormatUuid(const char* bytes, char* text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < kUuidBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *text++ = '-';
    const uint8_t byte = static_cast<uint8_t>(bytes[i]);
    *text++ = kDigits[byte >> 4];
    *text++ = kDigits[byte & 15];
  }
}

}  // namespace caudal
