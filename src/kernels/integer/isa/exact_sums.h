#pragma once

// When 16 bits hold a sum of products, and what follows for the loops.

#include <cstddef>
#include <cstdint>

namespace bitcycle::integer {

// Note [Exact dot products].
// AVX2 multiplies u8 by s8 with vpmaddubsw, which adds two products into a signed 16-bit lane with
// saturation; lanes may then be added in 16 bits, in a chain, before they are widened. With u in
// [0, U] a chain lies between -U times its negative and U times its positive s, so the weights tell
// how long chains may be, whatever the codes are: until the positive s_i, or the magnitudes of the
// negative ones, add up to more than signed_limit = 32767 / U.
// Where that is on average fewer than kLongChain steps, or somewhere none, the codes decide: with
// |s| <= S, a lane is at most S * (sum of u_i) and at most U * (sum of |s_i|), so a chain is exact
// as soon as every lane of it has
//     sum of u_i <= unsigned_limit = 32767 / S    or    sum of |s_i| <= signed_limit.
// Only one operand is looked at (the gathered codes; in backward-weights the errors), the other may
// hold anything. What the codes of a few pixels allow is their level: one chain for a row of taps,
// chains of 4 steps, of 2, of 1, and if not even pairs fit, 16-bit operands (vpmaddwd, exact for
// all). In backward-weights, one chain for as many quartets of 4 steps as their errors allow, and
// within a quartet as above.
// Signed operands are differences from the zero point, which keeps them small; those that are not
// 8-bit numbers need 16-bit operands. Depthwise sums are short: where U S fits 16 bits for all taps
// together, everything is added in 16 bits, else vpmaddwd is used. VNNI's vpdpbusd adds in 32 bits
// and needs none of this. 32-bit sums wrap around; what they stand for, a sum of (code - zero
// point) * weight, fits as 255 * 128 * kMaxProducts < 2^31.
constexpr int chain_length(int unsigned_bits, int signed_bits) {
  return 32767 / (2 * ((1 << unsigned_bits) - 1) * (1 << (signed_bits - 1)));
}
constexpr int unsigned_limit(int signed_bits) {
  return 32767 >> (signed_bits - 1);
}
constexpr int signed_limit(int unsigned_bits) {
  return 32767 / ((1 << unsigned_bits) - 1);
}
inline constexpr int kLongChain = 4;
inline constexpr int kLevels = 5;  // rows, chains of 4, 2, 1 steps, 16-bit operands
inline constexpr int kWideLevel = kLevels - 1;
inline constexpr int kLevelSteps = 4;  // of the longest chain but for rows
enum class QuartetLevel : std::uint8_t { chain, pairs, single, wide };
inline constexpr std::size_t kQuartetLevels = 4;
inline constexpr int kMaxProducts = 65793;
static_assert(chain_length(8, 7) == 1 && chain_length(7, 8) == 1 && chain_length(8, 8) == 0);
static_assert(std::int64_t{kMaxProducts} * 255 * 128 <= 2147483647);

}  // namespace bitcycle::integer
