// Ranks: what a HyperLogLog does with all its registers at once, sixteen a step where the machine can.
//
// Pure functions of bytes, each a rank of at most 53. The same result on every machine: sums are whole
// numbers.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifdef __SSSE3__
#include <tmmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace caudal {

// Each rank becomes the higher of both. REQUIRES: a multiple of 16.
inline void RaiseRanks(uint8_t* ranks, const uint8_t* others, size_t count) {
#ifdef __SSE2__
  for (size_t i = 0; i < count; i += 16) {
    __m128i* to = reinterpret_cast<__m128i*>(ranks + i);
    const __m128i from = _mm_loadu_si128(reinterpret_cast<const __m128i*>(others + i));
    _mm_storeu_si128(to, _mm_max_epu8(_mm_loadu_si128(to), from));
  }
#else
  for (size_t i = 0; i < count; ++i) ranks[i] = std::max(ranks[i], others[i]);
#endif
}

// The sum of 2^-rank over all ranks but 0, and how many ranks are 0.
struct RankSum {
  static constexpr int kUnit = 41;  // 4,096 ranks of 1 are 2^52 units of 2^-41: exact as a double
  uint64_t units = 0;
  int zeros = 0;
  bool exact = true;  // false: a rank is above kUnit, and `units` is without it

  void Add(uint8_t rank) {
    if (rank == 0) {
      ++zeros;
    } else if (rank <= kUnit) {
      units += uint64_t{1} << (kUnit - rank);
    } else {
      exact = false;
    }
  }
};

// REQUIRES: a multiple of 16, at most 4,096.
inline RankSum SumRanks(const uint8_t* ranks, size_t count) {
  RankSum sum;
#ifdef __SSSE3__
  // 2^(15 − rank) of ranks 1 … 15 in two bytes, each looked up by its rank.
  const __m128i high = _mm_setr_epi8(0, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i low = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1);
  const __m128i none = _mm_setzero_si128();
  const __m128i one = _mm_set1_epi8(1);
  // A rank of 16 or more gets its top bit set by this, for which the look-up gives 0.
  const __m128i bias = _mm_set1_epi8(0x70);
  __m128i highs = none, lows = none, zeros = none;
  for (size_t i = 0; i < count; i += 16) {
    const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ranks + i));
    const __m128i index = _mm_adds_epu8(sixteen, bias);
    highs = _mm_add_epi64(highs, _mm_sad_epu8(_mm_shuffle_epi8(high, index), none));
    lows = _mm_add_epi64(lows, _mm_sad_epu8(_mm_shuffle_epi8(low, index), none));
    zeros = _mm_add_epi64(zeros, _mm_sad_epu8(_mm_and_si128(_mm_cmpeq_epi8(sixteen, none), one), none));
    for (int large = _mm_movemask_epi8(index); large != 0; large &= large - 1) {
      sum.Add(ranks[i + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(large)))]);
    }
  }
  auto total = [](__m128i halves) {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(halves)) +
           static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(halves, halves)));
  };
  sum.units += ((total(highs) << 8) + total(lows)) << (RankSum::kUnit - 15);
  sum.zeros += static_cast<int>(total(zeros));
#else
  for (size_t i = 0; i < count; ++i) sum.Add(ranks[i]);
#endif
  return sum;
}

}  // namespace caudal
