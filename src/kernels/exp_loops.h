#pragma once

// exp and the loops made of it; part of elementwise.inl. The polynomial is that of the Cephes
// library (Moshier), evaluated in a fixed order.

namespace bitcycle {
namespace {

// exp for |x| up to 87, beyond which it stays at its value there; NaN stays NaN. x = n ln 2 + r:
// adding 1.5 * 2^23 rounds to a whole number n and leaves it in the low bits of the sum.
inline float exp_value(float x) {
  const float low = x < -87.0f ? -87.0f : x;
  const float clamped = low > 87.0f ? 87.0f : low;
  const float shifted = clamped * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const std::uint32_t exponent = (__builtin_bit_cast(std::uint32_t, shifted) + 127U) << 23;
  return (p * (r * r) + r + 1.0f) * __builtin_bit_cast(float, exponent);
}

// Sum of exp(x - top), in 16 interleaved partial sums.
float exp_sum(const float* x, std::int64_t count, float top) {
  constexpr std::int64_t kSums = 16;
  float sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::int64_t lane = 0; lane < kSums; ++lane) sums[lane] += exp_value(x[i + lane] - top);
  }
  for (; i < count; ++i) sums[0] += exp_value(x[i] - top);
  for (std::int64_t lane = 1; lane < kSums; ++lane) sums[0] += sums[lane];
  return sums[0];
}

// out = factor * exp(x - log_sum).
void exp_scaled(const float* x, std::int64_t count, float log_sum, float factor, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = factor * exp_value(x[i] - log_sum);
}

}  // namespace
}  // namespace bitcycle
