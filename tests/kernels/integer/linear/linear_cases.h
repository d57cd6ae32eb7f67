#pragma once

// One fully connected layer of a test: operands, and the products by definition, in plain loops
// with 64-bit sums.

#include "bitcycle/kernels/integer/linear.h"

#include "kernels/integer/isa/microkernels.h"
#include "kernels/random_values.h"

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle::integer::testing {

// Codes of rows in memory of their own.
struct OwnedRows {
  std::vector<std::uint8_t> codes;
  RowCodes view;

  OwnedRows(int rows, int width, CodeParams params)
      : codes(row_code_bytes(rows, width, params.bits), 0xcd) {
    view = {codes.data(), rows, width, params};
  }
  OwnedRows(const OwnedRows&) = delete;
  OwnedRows(OwnedRows&&) = default;
};

enum class Fill { random, largest, smallest };

inline std::uint64_t filled(Fill fill, std::uint64_t largest, RandomKey key, std::size_t i) {
  if (fill == Fill::random) return key.below(i, largest + 1);
  return fill == Fill::largest ? largest : 0;
}

inline OwnedRows make_rows(int rows, int width, int bits, int zero, Fill fill, RandomKey key) {
  OwnedRows owned(rows, width, {.scale = 0.03f, .zero_point = zero, .bits = bits});
  const auto largest = static_cast<std::uint64_t>(owned.view.params.largest_code());
  const std::size_t count = std::size_t(rows) * std::size_t(width);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = filled(fill, largest, key, i);
    owned.codes[i] = static_cast<std::uint8_t>(bits > 8 ? code >> (bits / 2) : code);
    if (bits > 8) owned.codes[count + i] = static_cast<std::uint8_t>(code % (1U << (bits / 2)));
  }
  return owned;
}

struct LinearCase {
  int rows, inputs, outputs;
  int bits = 8, error_bits = 8;
  int zero = 0, error_zero = 0;
  Fill fill = Fill::random;
  Fill weights = Fill::random;

  std::string name() const {
    return std::to_string(rows) + " x " + std::to_string(inputs) + " -> " +
           std::to_string(outputs) + " at " + std::to_string(bits) + "/" +
           std::to_string(error_bits);
  }
};

// Not random: codes of one sign and the largest size, but for each output's first, which is at the
// other end of the range.
inline std::vector<float> make_weights(const LinearCase& c) {
  const std::size_t count = std::size_t(c.inputs) * std::size_t(c.outputs);
  if (c.weights == Fill::random) return random_values(count, 1);
  const bool largest = c.weights == Fill::largest;
  std::vector<float> weights(count, largest ? 1.0f : 0.0f);
  for (std::size_t i = 0; i < count; i += std::size_t(c.inputs)) weights[i] = largest ? 0.0f : 1.0f;
  return weights;
}

struct LinearOperands {
  LinearCase shape;
  std::vector<float> weights, bias;
  OwnedRows input, errors;

  explicit LinearOperands(const LinearCase& c)
      : shape(c),
        weights(make_weights(c)),
        bias(random_values(std::size_t(c.outputs), 2)),
        input(make_rows(c.rows, c.inputs, c.bits, c.zero, c.fill, RandomKey(3))),
        errors(make_rows(c.rows, c.outputs, c.error_bits, c.error_zero, c.fill, RandomKey(4))) {}

  LinearWeights quantized() const {
    LinearWeights result({shape.inputs, shape.outputs});
    result.quantize(weights, shape.bits);
    return result;
  }
};

struct LinearResults {
  std::vector<float> output, input_gradient, weight_gradient;

  explicit LinearResults(const LinearCase& c)
      : output(std::size_t(c.rows) * std::size_t(c.outputs)),
        input_gradient(std::size_t(c.rows) * std::size_t(c.inputs)),
        weight_gradient(std::size_t(c.inputs) * std::size_t(c.outputs)) {}
};

inline LinearResults by_kernels(const LinearOperands& o) {
  const LinearWeights weights = o.quantized();
  LinearResults results(o.shape);
  linear_forward(weights, o.input.view, o.bias, results.output);
  linear_input_gradient(weights, o.errors.view, results.input_gradient);
  linear_weight_gradient(weights, {o.input.view, o.errors.view}, results.weight_gradient);
  return results;
}

// Codes of more than 8 bits are in two planes.
inline std::vector<RowCodes> parts_of(const RowCodes& codes) {
  const auto [scale, inverse, zero, bits] = codes.params;
  if (bits <= 8) return {codes};
  const int low = bits / 2;
  RowCodes high = codes, rest = codes;
  high.params = {scale * static_cast<float>(1 << low), inverse, zero >> low, bits - low};
  rest.data += std::ptrdiff_t{codes.rows} * codes.width;
  rest.params = {scale, inverse, zero % (1 << low), low};
  return {high, rest};
}

inline int difference(const RowCodes& codes, int row, int i) {
  const std::uint8_t* code = codes.data + std::ptrdiff_t{row} * codes.width + i;
  const auto [scale, inverse, zero, bits] = codes.params;
  if (bits <= 8) return *code - zero;
  return (*code << (bits / 2)) + code[std::ptrdiff_t{codes.rows} * codes.width] - zero;
}

// Note [Integer scheme] in docs/numerics.md, word for word.
class LinearDefinition {
 public:
  explicit LinearDefinition(const LinearOperands& o) : o_(o), weights_(o.quantized()) {}

  LinearResults results() const {
    LinearResults r(o_.shape);
    for (int row = 0; row < o_.shape.rows; ++row) {
      for (int out = 0; out < o_.shape.outputs; ++out) {
        r.output[at(row, out, o_.shape.outputs)] = output(row, out);
      }
      for (const RowCodes& part : parts_of(o_.errors.view)) {
        const bool first = part.data == o_.errors.view.data;
        const float box = error_box(part, row);
        for (int in = 0; in < o_.shape.inputs; ++in) {
          float& gradient = r.input_gradient[at(row, in, o_.shape.inputs)];
          const float value = input_gradient(part, row, in, box);
          gradient = first ? value : gradient + value;
        }
      }
    }
    for (int out = 0; out < o_.shape.outputs; ++out) {
      for (int in = 0; in < o_.shape.inputs; ++in) {
        const double factor = double{o_.input.view.params.scale} * o_.errors.view.params.scale /
                              weights_.scales()[std::size_t(out)];
        r.weight_gradient[at(out, in, o_.shape.inputs)] = static_cast<float>(
            static_cast<double>(weight_sum(o_.input.view, o_.errors.view, out, in)) * factor);
      }
    }
    return r;
  }

  static std::int64_t weight_sum(const RowCodes& input, const RowCodes& errors, int out, int in) {
    std::int64_t sum = 0;
    for (int row = 0; row < input.rows; ++row) {
      sum += std::int64_t{difference(errors, row, out)} * difference(input, row, in);
    }
    return sum;
  }

 private:
  static std::size_t at(int row, int i, int width) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(i);
  }
  std::int64_t code(int out, int in) const {
    return weights_.codes()[at(out, in, o_.shape.inputs)];
  }
  float output(int row, int out) const {
    std::int64_t sum = 0, box = 0;
    for (int in = 0; in < o_.shape.inputs; ++in) {
      sum += difference(o_.input.view, row, in) * code(out, in);
      box += difference(o_.input.view, row, in);
    }
    const auto o = static_cast<std::size_t>(out);
    const float scale = weights_.scales()[o] * o_.input.view.params.scale;
    const float value =
        std::fma(weights_.offsets()[o], static_cast<float>(box), static_cast<float>(sum)) * scale;
    return value + o_.bias[o];
  }
  float error_box(const RowCodes& errors, int row) const {
    float parts[8] = {};
    for (int out = 0; out < o_.shape.outputs; ++out) {
      parts[out % 8] = std::fma(weights_.offsets()[std::size_t(out)],
                                static_cast<float>(difference(errors, row, out)), parts[out % 8]);
    }
    return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
           ((parts[4] + parts[5]) + (parts[6] + parts[7]));
  }
  float input_gradient(const RowCodes& errors, int row, int in, float box) const {
    std::int64_t sum = 0;
    for (int out = 0; out < o_.shape.outputs; ++out) {
      sum += difference(errors, row, out) * code(out, in);
    }
    return (static_cast<float>(sum) + box) * errors.params.scale;
  }

  const LinearOperands& o_;
  LinearWeights weights_;
};

inline bool same_bytes(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline void expect_same(const LinearResults& a, const LinearResults& b, const std::string& what) {
  EXPECT_TRUE(same_bytes(a.output, b.output)) << what;
  EXPECT_TRUE(same_bytes(a.input_gradient, b.input_gradient)) << what;
  EXPECT_TRUE(same_bytes(a.weight_gradient, b.weight_gradient)) << what;
}

}  // namespace bitcycle::integer::testing
