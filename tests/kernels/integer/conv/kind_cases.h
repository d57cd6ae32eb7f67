#pragma once

// Convolutions of a batch whose images are of several kinds, as the kernels compute them, and as
// docs/numerics.md defines them in plain loops.

#include "kernels/integer/conv/conv_cases.h"

#include <limits>

namespace bitcycle::integer::testing {

struct Widths {
  int bits;
  int zero;
  int error_bits;
  int error_zero;
};

// One more than there are images of: the second kind has none.
inline const std::vector<Widths> kKinds = {{3, 0, 4, 7},  {5, 1, 5, 16},  {8, 0, 12, 2000},
                                           {4, 2, 6, 20}, {8, 130, 8, 3}, {2, 0, 16, 30000}};

struct KindOperands {
  ConvShape shape;
  ConvWeights weights;
  std::vector<std::vector<int>> images;  // of each kind
  std::vector<TestCodes> inputs, errors;

  KindOperands(const ConvShape& s, int weight_bits, const std::vector<Widths>& kinds)
      : shape(s), weights(s), images(kinds.size()) {
    const RandomKey key(5);
    weights.quantize(real_weights(s, key.derive("weights")), weight_bits);
    for (int n = 0; n < s.batch; ++n) {
      auto kind = key.below(static_cast<std::uint64_t>(n), kinds.size());
      if (kind == 1) kind = 0;
      images[kind].push_back(n);
    }
    float scale = 0.25f;
    for (std::size_t k = 0; k < kinds.size(); ++k, scale *= 1.7f) {
      inputs.emplace_back(s.input_grid(), kinds[k].bits, kinds[k].zero, Pattern::random,
                          key.derive("input"));
      errors.emplace_back(s.error_grid(), kinds[k].error_bits, kinds[k].error_zero, Pattern::random,
                          key.derive("errors"));
      inputs.back().params.scale = scale;
      errors.back().params.scale = 0.1f / scale;
    }
  }
  std::size_t outputs() const { return static_cast<std::size_t>(shape.error_grid().elements()); }
};

// Codes come from memory or from makers; those of more than 8 bits are always made.
enum class From { memory, makers };
inline Codes codes_of(const TestCodes& codes, From from) {
  return from == From::memory ? codes.view() : Codes{nullptr, codes.params, &codes};
}

inline std::vector<ImageCodes> kinds_of(const KindOperands& o, From from) {
  std::vector<ImageCodes> kinds;
  for (std::size_t k = 0; k < o.images.size(); ++k) {
    kinds.push_back({o.images[k], codes_of(o.inputs[k], from)});
  }
  return kinds;
}
inline std::vector<BackwardCodes> backward_kinds_of(const KindOperands& o, From from) {
  std::vector<BackwardCodes> kinds;
  for (std::size_t k = 0; k < o.images.size(); ++k) {
    if (o.images[k].empty()) continue;
    kinds.push_back({codes_of(o.inputs[k], from), codes_of(o.errors[k], from), o.images[k]});
  }
  return kinds;
}

template <typename T>
ConvResults<T> run_kinds(const KindOperands& o, From from) {
  const ConvShape& s = o.shape;
  const std::vector<ImageCodes> kinds = kinds_of(o, from);
  ConvResults<T> r;
  r.output.resize(o.outputs());
  r.input_gradient.resize(static_cast<std::size_t>(s.input_grid().elements()));
  r.weight_gradient.assign(static_cast<std::size_t>(s.weights()), 0.0f);
  conv_forward(s, kinds, o.weights, r.output.data(), r.stats);
  conv_backward({.shape = s,
                 .kinds = backward_kinds_of(o, from),
                 .weights = o.weights,
                 .input_gradient = r.input_gradient.data(),
                 .weight_gradient = r.weight_gradient});
  return r;
}

// The definition: exact sums, then the float operations of docs/numerics.md.
class KindReference {
 public:
  explicit KindReference(const KindOperands& o) : o_(o), s_(o.shape) {}

  ConvResults<float> results() {
    r_.output.resize(o_.outputs());
    r_.weight_gradient.assign(static_cast<std::size_t>(s_.weights()), 0.0f);
    start_statistics();
    for (int n = 0; n < s_.batch; ++n) forward(n);
    for (std::size_t k = 0; k < o_.images.size(); ++k) backward(k);
    return std::move(r_);
  }

 private:
  std::size_t kind_of(int n) const {
    for (std::size_t k = 0; k < o_.images.size(); ++k) {
      if (std::ranges::count(o_.images[k], n) != 0) return k;
    }
    return o_.images.size();
  }

  void start_statistics() {
    const auto channels = static_cast<std::size_t>(s_.out_channels);
    constexpr float kFar = std::numeric_limits<float>::infinity();
    r_.stats = {std::vector<double>(channels), std::vector<double>(channels),
                std::vector<float>(channels, kFar), std::vector<float>(channels, -kFar)};
  }

  float output(const TestCodes& input, int n, int y, int x, int out) const {
    const Oracle oracle{s_, o_.weights};
    std::int64_t sum = 0, box = 0;
    const int first = out / s_.group_outputs() * s_.group_inputs();
    for (int ky = 0; ky < s_.kernel; ++ky)
      for (int kx = 0; kx < s_.kernel; ++kx)
        for (int i = 0; i < s_.group_inputs(); ++i) {
          const int value =
              input(n, y * s_.stride + ky - s_.pad(), x * s_.stride + kx - s_.pad(), first + i);
          sum += value * oracle.code(out, i, ky, kx);
          box += value;
        }
    const auto c = static_cast<std::size_t>(out);
    return std::fma(o_.weights.offsets()[c], static_cast<float>(box), static_cast<float>(sum)) *
           (o_.weights.scales()[c] * input.params.scale);
  }

  // One partial sum per image in float.
  void forward(int n) {
    const auto channels = static_cast<std::size_t>(s_.out_channels);
    const TestCodes& input = o_.inputs[kind_of(n)];
    std::vector<float> sum(channels), squares(channels);
    std::size_t index = o_.outputs() / static_cast<std::size_t>(s_.batch) * std::size_t(n);
    for (int y = 0; y < s_.out_height(); ++y)
      for (int x = 0; x < s_.out_width(); ++x)
        for (std::size_t c = 0; c < channels; ++c, ++index) {
          const float value = output(input, n, y, x, static_cast<int>(c));
          r_.output[index] = value;
          sum[c] += value;
          squares[c] = std::fma(value, value, squares[c]);
          r_.stats.low[c] = std::min(r_.stats.low[c], value);
          r_.stats.high[c] = std::max(r_.stats.high[c], value);
        }
    for (std::size_t c = 0; c < channels; ++c) {
      r_.stats.sum[c] += sum[c];
      r_.stats.sum_of_squares[c] += squares[c];
    }
  }

  // The errors of other kinds' images count as zeros. Input gradients are those of calls over the
  // whole batch with the kind's parameters, which have tests of their own.
  void backward(std::size_t k) {
    TestCodes errors = o_.errors[k];
    const std::size_t each = errors.dense.size() / static_cast<std::size_t>(s_.batch);
    for (std::size_t i = 0; i < errors.dense.size(); ++i) {
      if (kind_of(static_cast<int>(i / each)) != k) {
        errors.dense[i] = static_cast<std::uint16_t>(errors.params.zero_point);
      }
    }
    const auto sums = Oracle{s_, o_.weights}.weight_sums(o_.inputs[k], errors);
    const std::size_t channel = sums.size() / static_cast<std::size_t>(s_.out_channels);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double factor = double{o_.inputs[k].params.scale} * errors.params.scale /
                            o_.weights.scales()[i / channel];
      r_.weight_gradient[i] += static_cast<float>(static_cast<double>(sums[i]) * factor);
    }
    add_input_gradient(k);
  }

  void add_input_gradient(std::size_t k) {
    std::vector<float> whole(static_cast<std::size_t>(s_.input_grid().elements()));
    conv_backward({s_, {{{}, o_.errors[k].view()}}, o_.weights, whole.data(), {}});
    r_.input_gradient.resize(whole.size());
    const std::ptrdiff_t each = std::ssize(whole) / s_.batch;
    for (const int n : o_.images[k]) {
      std::copy_n(whole.begin() + n * each, each, r_.input_gradient.begin() + n * each);
    }
  }

  const KindOperands& o_;
  ConvShape s_;
  ConvResults<float> r_;
};

inline std::vector<ConvShape> kind_shapes() {
  return {
      {9, 8, 8, 16, 16, 3, 1, 1},  {7, 6, 4, 32, 20, 3, 1, 1},  {11, 7, 9, 5, 18, 3, 2, 1},
      {8, 4, 5, 24, 40, 1, 1, 1},  {13, 1, 1, 20, 3, 1, 1, 1},  {9, 5, 6, 20, 20, 3, 1, 20},
      {6, 7, 3, 17, 17, 3, 2, 17}, {7, 5, 5, 8, 12, 3, 1, 4},   {1, 6, 6, 16, 16, 3, 1, 1},
      {1, 5, 5, 18, 18, 3, 1, 18}, {6, 11, 10, 3, 20, 7, 2, 1},
  };
}

inline std::string describe(const KindOperands& o) {
  return describe(ConvCase{o.shape, o.weights.bits()});
}

}  // namespace bitcycle::integer::testing
