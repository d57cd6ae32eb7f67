#pragma once

// The elementwise part of an LSTM's time step, with its gates in the order i, f, g, o:
//
//   c' = s(f) c + s(i) tanh(g),   h' = s(o) tanh(c'),   s(x) = 1 / (1 + exp(-x)).
//
// exp and tanh are polynomials (within 2e-7 of the functions) rather than a library's, so that
// every instruction set gives the same bytes.

#include <cstdint>

namespace bitcycle {

// The step of `rows` sequences; all arrays are dense [rows, hidden], gates [rows, 4 * hidden], and
// no two overlap.
struct LstmCell {
  std::int64_t rows = 0;
  std::int64_t hidden = 0;
  const float* input_gates = nullptr;   // the two sums of which
  const float* hidden_gates = nullptr;  // the gates are made
  const float* cell = nullptr;          // c
  float* gates = nullptr;               // s(i), s(f), tanh(g), s(o)
  float* next_cell = nullptr;           // c'
  float* tanh_cell = nullptr;           // tanh(c')
  float* output = nullptr;              // h'
};
void lstm_cell_forward(const LstmCell& step);

struct LstmCellBackward {
  std::int64_t rows = 0;
  std::int64_t hidden = 0;
  const float* gates = nullptr;         // as above
  const float* cell = nullptr;          // c
  const float* tanh_cell = nullptr;     // tanh(c')
  const float* output_error = nullptr;  // of h'
  const float* cell_error = nullptr;    // of c', as far as it comes from later steps
  float* gate_errors = nullptr;         // of the sums i, f, g, o
  float* next_cell_error = nullptr;     // of c
};
void lstm_cell_backward(const LstmCellBackward& step);

}  // namespace bitcycle
