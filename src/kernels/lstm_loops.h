#pragma once

// The inner loops of lstm_cell.h, for one row; part of elementwise.inl.
//
// The polynomials are those of the Cephes library (Moshier), evaluated in a fixed order without
// branches: what is chosen between is computed both ways.

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

inline float sigmoid_value(float x) {
  return 1.0f / (1.0f + exp_value(-x));
}

// Near 0 a polynomial, whose relative error stays small there.
inline float tanh_value(float x) {
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float far = 1.0f - 2.0f / (1.0f + exp_value(2.0f * x));
  return z < 0.390625f ? near : far;
}

// No two arrays overlap.
void lstm_row(const float* __restrict input_gates, const float* __restrict hidden_gates,
              const float* __restrict cell, std::int64_t hidden, float* __restrict gates,
              float* __restrict next_cell, float* __restrict tanh_cell, float* __restrict output) {
  for (std::int64_t j = 0; j < hidden; ++j) {
    const float i = sigmoid_value(input_gates[j] + hidden_gates[j]);
    const float f = sigmoid_value(input_gates[hidden + j] + hidden_gates[hidden + j]);
    const float g = tanh_value(input_gates[2 * hidden + j] + hidden_gates[2 * hidden + j]);
    const float o = sigmoid_value(input_gates[3 * hidden + j] + hidden_gates[3 * hidden + j]);
    const float c = f * cell[j] + i * g;
    const float t = tanh_value(c);
    gates[j] = i;
    gates[hidden + j] = f;
    gates[2 * hidden + j] = g;
    gates[3 * hidden + j] = o;
    next_cell[j] = c;
    tanh_cell[j] = t;
    output[j] = o * t;
  }
}

void lstm_row_backward(const float* __restrict gates, const float* __restrict cell,
                       const float* __restrict tanh_cell, const float* __restrict output_error,
                       const float* __restrict cell_error, std::int64_t hidden,
                       float* __restrict gate_errors, float* __restrict next_cell_error) {
  for (std::int64_t j = 0; j < hidden; ++j) {
    const float i = gates[j], f = gates[hidden + j];
    const float g = gates[2 * hidden + j], o = gates[3 * hidden + j];
    const float t = tanh_cell[j], dh = output_error[j];
    const float dc = cell_error[j] + dh * o * (1.0f - t * t);
    gate_errors[j] = dc * g * (i * (1.0f - i));
    gate_errors[hidden + j] = dc * cell[j] * (f * (1.0f - f));
    gate_errors[2 * hidden + j] = dc * i * (1.0f - g * g);
    gate_errors[3 * hidden + j] = dh * t * (o * (1.0f - o));
    next_cell_error[j] = dc * f;
  }
}

}  // namespace
}  // namespace bitcycle
