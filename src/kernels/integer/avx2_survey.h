#pragma once

// AVX2: what codes allow, see Note [Exact dot products].

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/unroll.h"

#include <algorithm>

namespace bitcycle::integer::avx2 {
namespace {

inline __m256i distance(__m256i codes, __m256i zero) {
  return _mm256_or_si256(_mm256_subs_epu8(codes, zero), _mm256_subs_epu8(zero, codes));
}

// Sums of codes (in two halves) and minus the highest level, of one pixel in either half of the
// registers.
struct Survey {
  __m256i sums;
  __m256i levels;

  // 16 codes of 4 steps in either half. The sums of 1, 2 and 4 steps only grow, so the number of
  // those beyond the limit is the level.
  void add(__m256i codes, __m256i magnitudes, __m256i limit) {
    const __m256i one = _mm256_maddubs_epi16(magnitudes, _mm256_set1_epi8(1));
    const __m256i two = _mm256_add_epi16(one, _mm256_shuffle_epi32(one, 0b10110001));
    const __m256i four = _mm256_add_epi16(two, _mm256_shuffle_epi32(two, 0b01001110));
    const __m256i beyond = _mm256_add_epi16(
        _mm256_add_epi16(_mm256_cmpgt_epi16(one, limit), _mm256_cmpgt_epi16(two, limit)),
        _mm256_cmpgt_epi16(four, limit));
    levels = _mm256_min_epi16(levels, beyond);
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(codes, _mm256_setzero_si256()));
  }
};

// The highest level and the sum of the pixels 0 and 1 in `a`, 2 and 3 in `b`.
inline void finish(const Survey& a, const Survey& b, std::uint8_t* levels, std::int32_t* sums) {
  __m256i low = _mm256_packs_epi16(a.levels, b.levels);  // 8 bytes of the pixels 0 2 1 3
  low = _mm256_min_epi8(low, _mm256_srli_epi64(low, 32));
  low = _mm256_min_epi8(low, _mm256_srli_epi64(low, 16));
  low = _mm256_min_epi8(low, _mm256_srli_epi64(low, 8));
  low = _mm256_sub_epi8(_mm256_setzero_si256(), low);
  levels[0] = static_cast<std::uint8_t>(_mm256_extract_epi8(low, 0));
  levels[1] = static_cast<std::uint8_t>(_mm256_extract_epi8(low, 16));
  levels[2] = static_cast<std::uint8_t>(_mm256_extract_epi8(low, 8));
  levels[3] = static_cast<std::uint8_t>(_mm256_extract_epi8(low, 24));
  const __m256i both = _mm256_add_epi64(_mm256_unpacklo_epi64(a.sums, b.sums),
                                        _mm256_unpackhi_epi64(a.sums, b.sums));
  const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 0, 0, 0, 0);
  save16(sums, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(both, order)));
}

// Pixels of whole halves of 16 codes, two at a time: no chain of 2 steps leaves a pixel, and none
// of 4 if there are only whole 16s.
template <bool kDifferences>
struct PixelPairs {
  const SurveyJob& job;
  __m256i zero = _mm256_set1_epi8(static_cast<char>(job.zero));
  __m256i limit = _mm256_set1_epi16(static_cast<short>(job.limit));
  int whole = job.channels / 16 * 16;

  [[gnu::always_inline]] Survey survey(int first, int second) const {
    const std::ptrdiff_t at[2] = {std::ptrdiff_t{first} * job.channels,
                                  std::ptrdiff_t{second} * job.channels};
    Survey survey{_mm256_setzero_si256(), _mm256_set1_epi16(whole == job.channels ? 0 : -1)};
    for (int c = 0; c < whole; c += 16) {
      const __m256i v =
          _mm256_set_m128i(load16(job.codes + at[1] + c), load16(job.codes + at[0] + c));
      survey.add(v, kDifferences ? distance(v, zero) : v, limit);
      if constexpr (kDifferences) {
        const __m256i d = _mm256_sub_epi8(v, zero);
        save16(job.differences + at[0] + c, _mm256_castsi256_si128(d));
        save16(job.differences + at[1] + c, _mm256_extracti128_si256(d, 1));
      }
    }
    if (whole < job.channels) add_half(at[0] + whole, at[1] + whole, survey);
    return survey;
  }

  void add_half(std::ptrdiff_t first, std::ptrdiff_t second, Survey& survey) const {
    const __m256i v = _mm256_set_m128i(load8(job.codes + second), load8(job.codes + first));
    const __m256i low = _mm256_set_epi64x(0, -1, 0, -1);
    survey.add(v, kDifferences ? _mm256_and_si256(distance(v, zero), low) : v, limit);
    if constexpr (kDifferences) {
      const __m256i d = _mm256_sub_epi8(v, zero);
      save8(job.differences + first, _mm256_castsi256_si128(d));
      save8(job.differences + second, _mm256_extracti128_si256(d, 1));
    }
  }
};

template <bool kDifferences>
void survey_vectors(const SurveyJob& job) {
  const PixelPairs<kDifferences> pairs{job};
  int p = 0;
  for (; p + 4 <= job.pixels; p += 4) {
    finish(pairs.survey(p, p + 1), pairs.survey(p + 2, p + 3), job.levels + p, job.sums + p);
  }
  for (; p < job.pixels; ++p) {
    const Survey one = pairs.survey(p, p);
    std::uint8_t levels[4];
    std::int32_t sums[4];
    finish(one, one, levels, sums);
    job.levels[p] = levels[0];
    job.sums[p] = sums[0];
  }
}

// Any other number of channels, where lanes mix codes in ways that depend on the tap: the largest
// code alone decides.
template <bool kDifferences>
[[gnu::always_inline]] inline void survey_largest(const SurveyJob& job) {
  const std::uint8_t* codes = job.codes;
  for (int p = 0; p < job.pixels; ++p, codes += job.channels) {
    int largest = 0;
    std::int32_t sum = 0;
    for (int c = 0; c < job.channels; ++c) {
      const int code = codes[c];
      sum += code;
      largest = std::max(largest, kDifferences ? std::abs(code - job.zero) : code);
    }
    job.levels[p] = static_cast<std::uint8_t>(
        (2 * largest > job.limit) + (4 * largest > job.limit) + (8 * largest > job.limit));
    job.sums[p] = sum;
  }
  if constexpr (kDifferences) {
    const std::ptrdiff_t bytes = std::ptrdiff_t{job.pixels} * job.channels;
    for (std::ptrdiff_t i = 0; i < bytes; ++i) {
      job.differences[i] = static_cast<std::uint8_t>(job.codes[i] - job.zero);
    }
  }
}

void survey(const SurveyJob& job) {
  const bool vectors = job.channels % 8 == 0;
  if (job.differences != nullptr) {
    vectors ? survey_vectors<true>(job) : survey_largest<true>(job);
  } else {
    vectors ? survey_vectors<false>(job) : survey_largest<false>(job);
  }
}

inline __m256i wider_sum(const std::uint8_t* differences, __m256i zero) {
  const __m256i codes = _mm256_add_epi8(load(differences), zero);
  return _mm256_maddubs_epi16(distance(codes, zero), _mm256_set1_epi8(1));
}

// Lanes of [step][16][4] panels add up the same channel of successive steps.
void unit_levels(const std::uint8_t* panel, int units, int zero, std::uint8_t* levels) {
  const __m256i zeros = _mm256_set1_epi8(static_cast<char>(zero));
  const __m256i limit = _mm256_set1_epi16(kSignedLimit);
  for (int u = 0; u < units; ++u, panel += kUnitSteps * kStepBytes) {
    __m256i one = _mm256_setzero_si256();
    __m256i two = one;
    __m256i four = one;
    unroll<2>([&](auto half) {
      __m256i step[kUnitSteps];
      unroll<kUnitSteps>(
          [&](auto s) { step[s] = wider_sum(panel + s * kStepBytes + half * 32, zeros); });
      const __m256i first = _mm256_add_epi16(step[0], step[1]);
      const __m256i second = _mm256_add_epi16(step[2], step[3]);
      unroll<kUnitSteps>([&](auto s) { one = _mm256_max_epi16(one, step[s]); });
      two = _mm256_max_epi16(two, _mm256_max_epi16(first, second));
      four = _mm256_max_epi16(four, _mm256_add_epi16(first, second));
    });
    const auto beyond = [&](__m256i sums) {
      return _mm256_movemask_epi8(_mm256_cmpgt_epi16(sums, limit)) != 0;
    };
    levels[u] = static_cast<std::uint8_t>(beyond(one) + beyond(two) + beyond(four));
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx2
