#pragma once

// The inner loops of lstm_cell.h, for one row; part of elementwise.inl.
//
// The polynomial is that of the Cephes library (Moshier); what is chosen between is computed both
// ways, without branches.

#include "kernels/exp_loops.h"

namespace bitcycle {
namespace {

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
