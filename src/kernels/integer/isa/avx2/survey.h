#pragma once

// AVX2: what codes allow, see Note [Exact dot products].

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

#include <algorithm>
#include <cstdlib>

namespace bitcycle::integer::avx2 {
namespace {

inline __m256i distance(__m256i codes, __m256i zero) {
  return _mm256_or_si256(_mm256_subs_epu8(codes, zero), _mm256_subs_epu8(zero, codes));
}

int chain_steps(const std::int8_t* panel, int steps, int limit) {
  const __m256i most = _mm256_set1_epi16(static_cast<short>(limit));
  const __m256i zero = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i positive[2] = {zero, zero}, negative[2] = {zero, zero};
  for (int s = 0; s < steps; ++s, panel += kStepBytes) {
    __m256i highest = zero;
    unroll<2>([&](auto half) {
      const __m256i w = load(panel + half * 32);
      const __m256i up = _mm256_maddubs_epi16(_mm256_max_epi8(w, zero), ones);
      const __m256i both = _mm256_maddubs_epi16(ones, w);
      positive[half] = _mm256_add_epi16(positive[half], up);
      negative[half] = _mm256_add_epi16(negative[half], _mm256_sub_epi16(up, both));
      highest = _mm256_max_epi16(highest, _mm256_max_epi16(positive[half], negative[half]));
    });
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi16(highest, most)) != 0) return s;
  }
  return steps;
}

// Codes, or differences from the zero point that may be too large for 8 bits.
enum class Operand { codes, differences };

// What is found out about one pixel in either half of the registers.
template <Operand kOperand>
struct Survey {
  __m256i sums = _mm256_setzero_si256();     // of codes, in two halves
  __m256i levels = _mm256_setzero_si256();   // minus the highest level, counted from chains of 4
  __m256i totals = _mm256_setzero_si256();   // of the magnitudes in a lane
  __m256i largest = _mm256_setzero_si256();  // magnitude

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
    totals = _mm256_adds_epi16(totals, four);
    if constexpr (kOperand == Operand::differences) largest = _mm256_max_epu8(largest, magnitudes);
  }

  // Minus the highest level, counted from rows.
  __m256i final_levels(__m256i row_limit) const {
    const __m256i no_row = _mm256_cmpgt_epi16(totals, row_limit);
    const __m256i final = _mm256_and_si256(_mm256_sub_epi16(levels, _mm256_set1_epi16(1)), no_row);
    if constexpr (kOperand == Operand::codes) return final;
    const __m256i too_large = _mm256_and_si256(largest, _mm256_set1_epi8(-128));
    const __m256i narrow = _mm256_cmpeq_epi16(too_large, _mm256_setzero_si256());
    return _mm256_min_epi16(final, _mm256_andnot_si256(narrow, _mm256_set1_epi16(-kWideLevel)));
  }
};

// The highest level and the sum of the pixels 0 and 1 in `a`, 2 and 3 in `b`.
template <Operand kOperand>
inline void finish(const Survey<kOperand>& a, const Survey<kOperand>& b, __m256i row_limit,
                   std::uint8_t* levels, std::int32_t* sums) {
  // 8 bytes of the pixels 0 2 1 3
  __m256i low = _mm256_packs_epi16(a.final_levels(row_limit), b.final_levels(row_limit));
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
template <Operand kOperand>
struct PixelPairs {
  const SurveyJob& job;
  __m256i zero = _mm256_set1_epi8(static_cast<char>(job.zero));
  __m256i limit = _mm256_set1_epi16(static_cast<short>(job.limit));
  // What a pixel may take of the limit of its row.
  __m256i row_limit = _mm256_set1_epi16(static_cast<short>(job.limit / job.row_pixels));
  int whole = job.channels / 16 * 16;

  [[gnu::always_inline]] Survey<kOperand> survey(int first, int second) const {
    const std::ptrdiff_t at[2] = {std::ptrdiff_t{first} * job.channels,
                                  std::ptrdiff_t{second} * job.channels};
    Survey<kOperand> survey;
    if (whole < job.channels) survey.levels = _mm256_set1_epi16(-1);
    for (int c = 0; c < whole; c += 16) {
      const __m256i v =
          _mm256_set_m128i(load16(job.codes + at[1] + c), load16(job.codes + at[0] + c));
      survey.add(v, kOperand == Operand::differences ? distance(v, zero) : v, limit);
      if constexpr (kOperand == Operand::differences) {
        const __m256i d = _mm256_sub_epi8(v, zero);
        save16(job.differences + at[0] + c, _mm256_castsi256_si128(d));
        save16(job.differences + at[1] + c, _mm256_extracti128_si256(d, 1));
      }
    }
    if (whole < job.channels) add_half(at[0] + whole, at[1] + whole, survey);
    return survey;
  }

  void add_half(std::ptrdiff_t first, std::ptrdiff_t second, Survey<kOperand>& survey) const {
    const __m256i v = _mm256_set_m128i(load8(job.codes + second), load8(job.codes + first));
    const __m256i low = _mm256_set_epi64x(0, -1, 0, -1);
    survey.add(v, kOperand == Operand::differences ? _mm256_and_si256(distance(v, zero), low) : v,
               limit);
    if constexpr (kOperand == Operand::differences) {
      const __m256i d = _mm256_sub_epi8(v, zero);
      save8(job.differences + first, _mm256_castsi256_si128(d));
      save8(job.differences + second, _mm256_extracti128_si256(d, 1));
    }
  }
};

template <Operand kOperand>
void survey_vectors(const SurveyJob& job) {
  const PixelPairs<kOperand> pairs{job};
  int p = 0;
  for (; p + 4 <= job.pixels; p += 4) {
    finish(pairs.survey(p, p + 1), pairs.survey(p + 2, p + 3), pairs.row_limit, job.levels + p,
           job.sums + p);
  }
  for (; p < job.pixels; ++p) {
    const Survey<kOperand> one = pairs.survey(p, p);
    std::uint8_t levels[4];
    std::int32_t sums[4];
    finish(one, one, pairs.row_limit, levels, sums);
    job.levels[p] = levels[0];
    job.sums[p] = sums[0];
  }
}

// Any other number of channels, where lanes mix codes in ways that depend on the tap: the largest
// code alone decides.
template <Operand kOperand>
int level_of(int largest, const SurveyJob& job) {
  if (kOperand == Operand::differences && largest > 127) return kWideLevel;
  const int row_codes = (job.row_pixels * job.channels + 3) / 4 * 2;
  return (2 * largest > job.limit) + (4 * largest > job.limit) + (8 * largest > job.limit) +
         (std::max(row_codes, 8) * largest > job.limit);
}

template <Operand kOperand>
[[gnu::always_inline]] inline void survey_largest(const SurveyJob& job) {
  const std::uint8_t* codes = job.codes;
  for (int p = 0; p < job.pixels; ++p, codes += job.channels) {
    int largest = 0;
    std::int32_t sum = 0;
    for (int c = 0; c < job.channels; ++c) {
      const int code = codes[c];
      sum += code;
      largest =
          std::max(largest, kOperand == Operand::differences ? std::abs(code - job.zero) : code);
    }
    job.levels[p] = static_cast<std::uint8_t>(level_of<kOperand>(largest, job));
    job.sums[p] = sum;
  }
  if constexpr (kOperand == Operand::differences) {
    const std::ptrdiff_t bytes = std::ptrdiff_t{job.pixels} * job.channels;
    for (std::ptrdiff_t i = 0; i < bytes; ++i) {
      job.differences[i] = static_cast<std::uint8_t>(job.codes[i] - job.zero);
    }
  }
}

void survey(const SurveyJob& job) {
  const bool vectors = job.channels % 8 == 0;
  if (job.differences != nullptr) {
    vectors ? survey_vectors<Operand::differences>(job) : survey_largest<Operand::differences>(job);
  } else {
    vectors ? survey_vectors<Operand::codes>(job) : survey_largest<Operand::codes>(job);
  }
}

// Lanes of [step][16][4] panels add up the same channel of successive steps.
struct QuartetSurvey {
  __m256i one, two = _mm256_setzero_si256(), four[2];  // sums of magnitudes, four of either half
  __m256i largest = _mm256_setzero_si256();

  QuartetSurvey(const std::uint8_t* quartet, __m256i zero) : one(_mm256_setzero_si256()) {
    unroll<2>([&](auto half) {
      __m256i step[kQuartetSteps];
      unroll<kQuartetSteps>([&](auto s) {
        const __m256i codes = _mm256_add_epi8(load(quartet + s * kStepBytes + half * 32), zero);
        const __m256i magnitudes = distance(codes, zero);
        largest = _mm256_max_epu8(largest, magnitudes);
        step[s] = _mm256_maddubs_epi16(magnitudes, _mm256_set1_epi8(1));
        one = _mm256_max_epi16(one, step[s]);
      });
      const __m256i first = _mm256_add_epi16(step[0], step[1]);
      const __m256i second = _mm256_add_epi16(step[2], step[3]);
      two = _mm256_max_epi16(two, _mm256_max_epi16(first, second));
      four[half] = _mm256_add_epi16(first, second);
    });
  }

  bool narrow() const { return _mm256_movemask_epi8(largest) == 0; }
};

inline bool any_beyond(__m256i sums, __m256i limit) {
  return _mm256_movemask_epi8(_mm256_cmpgt_epi16(sums, limit)) != 0;
}

// The level of a quartet on its own.
inline QuartetLevel level_of(const QuartetSurvey& quartet, __m256i limit) {
  if (!quartet.narrow() || any_beyond(quartet.one, limit)) return QuartetLevel::wide;
  if (any_beyond(quartet.two, limit)) return QuartetLevel::single;
  const bool fits = !any_beyond(_mm256_max_epi16(quartet.four[0], quartet.four[1]), limit);
  return fits ? QuartetLevel::chain : QuartetLevel::pairs;
}

// Runs get as long as they can.
void survey_quartets(const QuartetSurveyJob& job) {
  const __m256i zero = _mm256_set1_epi8(static_cast<char>(job.zero));
  const __m256i limit = _mm256_set1_epi16(static_cast<short>(job.limit));
  __m256i low = _mm256_setzero_si256(), high = low;  // of the run so far
  int first = 0;
  for (int u = 0; u < job.quartets; ++u) {
    const QuartetSurvey quartet(job.panel + u * kQuartetSteps * kStepBytes, zero);
    const __m256i next_low = _mm256_add_epi16(low, quartet.four[0]);
    const __m256i next_high = _mm256_add_epi16(high, quartet.four[1]);
    job.levels[u] = level_of(quartet, limit);
    job.chains[u] = 1;
    const bool longer = u > 0 && job.levels[u - 1] == QuartetLevel::chain && quartet.narrow() &&
                        !any_beyond(_mm256_max_epi16(next_low, next_high), limit);
    if (longer) ++job.chains[first];
    if (!longer) first = u;
    low = longer ? next_low : quartet.four[0];
    high = longer ? next_high : quartet.four[1];
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx2
