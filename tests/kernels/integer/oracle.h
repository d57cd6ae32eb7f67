#pragma once

// An independent account of the integer convolutions: plain loops over logical coordinates in
// 64-bit integers and doubles, no padding buffers, no phases, no packing.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/conv.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bitcycle::integer::testing {

enum class Pattern { random, worst };  // worst: every operand at an end of its range

// Hands out the codes of images that are in memory.
class CopiedCodes : public CodeMaker {
 public:
  CopiedCodes(const CodeGrid& grid, const std::vector<std::uint8_t>& codes)
      : size_(grid.image_bytes()), codes_(codes) {}
  void make(int image, std::uint8_t* codes) const override {
    std::copy_n(codes_.begin() + image * size_, size_, codes);
  }

 private:
  std::ptrdiff_t size_;
  const std::vector<std::uint8_t>& codes_;
};

// Dense codes, and the same with a halo as the kernels want them; codes of more than 8 bits are
// made of these, in two planes of bytes.
struct TestCodes : CodeMaker {
  CodeGrid grid;
  CodeParams params;
  std::vector<std::uint16_t> dense;
  std::vector<std::uint8_t> padded;

  TestCodes(CodeGrid g, int bits, int zero_point, Pattern pattern, RandomKey key)
      : grid(g), dense(static_cast<std::size_t>(g.elements())), padded(2 * g.bytes(), 0xcd) {
    params = {.scale = 0.25f, .inverse_scale = 4.0f, .zero_point = zero_point, .bits = bits};
    const auto levels = static_cast<std::uint64_t>(params.largest_code());
    for (std::size_t i = 0; i < dense.size(); ++i) {
      dense[i] = static_cast<std::uint16_t>(pattern == Pattern::random ? key.below(i, levels + 1)
                                                                       : levels);
    }
    fill_padded();
  }

  void fill_padded() {
    if (params.bits <= 8) return fill_plane(0, [](int code) { return code; });
    const int low_bits = params.bits / 2;
    fill_plane(0, [=](int code) { return code >> low_bits; });
    fill_plane(grid.image_bytes() * grid.batch, [=](int code) { return code % (1 << low_bits); });
  }
  template <typename Part>
  void fill_plane(std::ptrdiff_t first, Part part) {
    const auto plane = padded.begin() + first;
    std::fill_n(plane, grid.image_bytes() * grid.batch,
                static_cast<std::uint8_t>(part(params.zero_point)));
    for (int n = 0; n < grid.batch; ++n) {
      for (int y = 0; y < grid.height; ++y) {
        const std::ptrdiff_t length = std::ptrdiff_t{grid.width} * grid.channels;
        const auto from = dense.begin() + (std::ptrdiff_t{n} * grid.height + y) * length;
        std::transform(from, from + length,
                       plane + n * grid.image_bytes() + (y + grid.halo) * grid.row_bytes() +
                           std::ptrdiff_t{grid.halo} * grid.channels,
                       [&](int code) { return static_cast<std::uint8_t>(part(code)); });
      }
    }
  }
  void make(int image, std::uint8_t* codes) const override {
    std::copy_n(padded.begin() + image * grid.image_bytes(), grid.image_bytes(), codes);
  }
  void make_wide(int image, std::uint8_t* high, std::uint8_t* low) const override {
    make(image, high);
    make(grid.batch + image, low);
  }
  Codes view() const {
    return params.bits <= 8 ? Codes{padded.data(), params} : Codes{nullptr, params, this};
  }

  // Code less zero point; 0 outside the image.
  int operator()(int n, int y, int x, int c) const {
    if (y < 0 || x < 0 || y >= grid.height || x >= grid.width) return 0;
    const std::ptrdiff_t index =
        ((std::ptrdiff_t{n} * grid.height + y) * grid.width + x) * grid.channels + c;
    return dense[static_cast<std::size_t>(index)] - params.zero_point;
  }
};

// Weights whose codes are known: with both ends present in every channel, the scale is 1 and the
// offset 0, so that every sum is an integer. Element 0 and 1 of a channel carry the ends.
inline std::vector<float> integer_weights(const ConvShape& s, int bits, Pattern pattern,
                                          RandomKey key) {
  std::vector<float> weights(static_cast<std::size_t>(s.weights()));
  const std::size_t each = weights.size() / static_cast<std::size_t>(s.out_channels);
  const int half = 1 << (bits - 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto random = static_cast<int>(key.below(i, static_cast<std::uint64_t>(2 * half)));
    const int code =
        pattern == Pattern::random ? random - half : (i / each % 2 == 0 ? -half : half - 1);
    weights[i] = static_cast<float>(i % each == 0 ? -half : i % each == 1 ? half - 1 : code);
  }
  return weights;
}

inline std::vector<float> real_weights(const ConvShape& s, RandomKey key) {
  std::vector<float> weights(static_cast<std::size_t>(s.weights()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(key.normal(i));
  return weights;
}

struct Oracle {
  ConvShape s;
  const ConvWeights& weights;

  std::int64_t code(int out, int in, int ky, int kx) const {
    const std::ptrdiff_t index =
        ((std::ptrdiff_t{out} * s.kernel + ky) * s.kernel + kx) * s.group_inputs() + in;
    return weights.codes()[static_cast<std::size_t>(index)];
  }

  // sum (q - z) * (code + offset) and the same of the errors, in units of the scales.
  double forward(const TestCodes& input, int n, int y, int x, int out) const {
    double sum = 0;
    const int group = out / s.group_outputs();
    for (int ky = 0; ky < s.kernel; ++ky) {
      for (int kx = 0; kx < s.kernel; ++kx) {
        for (int i = 0; i < s.group_inputs(); ++i) {
          const double w = static_cast<double>(code(out, i, ky, kx)) +
                           weights.offsets()[static_cast<std::size_t>(out)];
          sum += w * input(n, y * s.stride + ky - s.pad(), x * s.stride + kx - s.pad(),
                           group * s.group_inputs() + i);
        }
      }
    }
    return sum;
  }

  // Scatters every error to the inputs it came from.
  std::vector<double> backward_data(const TestCodes& errors) const {
    std::vector<double> dx(
        static_cast<std::size_t>(std::int64_t{s.batch} * s.height * s.width * s.in_channels));
    each_product([&](int n, int y, int x, int out, int iy, int ix, int in, int ky, int kx) {
      const int group = out / s.group_outputs();
      const double w = static_cast<double>(code(out, in, ky, kx)) +
                       weights.offsets()[static_cast<std::size_t>(out)];
      const std::ptrdiff_t to =
          ((std::ptrdiff_t{n} * s.height + iy) * s.width + ix) * s.in_channels +
          group * s.group_inputs() + in;
      dx[static_cast<std::size_t>(to)] += w * errors(n, y, x, out);
    });
    return dx;
  }

  std::vector<std::int64_t> weight_sums(const TestCodes& input, const TestCodes& errors) const {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(s.weights()));
    each_product([&](int n, int y, int x, int out, int iy, int ix, int in, int ky, int kx) {
      const int group = out / s.group_outputs();
      const std::ptrdiff_t to =
          ((std::ptrdiff_t{out} * s.kernel + ky) * s.kernel + kx) * s.group_inputs() + in;
      sums[static_cast<std::size_t>(to)] +=
          std::int64_t{errors(n, y, x, out)} * input(n, iy, ix, group * s.group_inputs() + in);
    });
    return sums;
  }

 private:
  template <typename Use>
  void each_product(Use use) const {
    for (int n = 0; n < s.batch; ++n)
      for (int y = 0; y < s.out_height(); ++y)
        for (int x = 0; x < s.out_width(); ++x)
          for (int ky = 0; ky < s.kernel; ++ky)
            for (int kx = 0; kx < s.kernel; ++kx) {
              const int iy = y * s.stride + ky - s.pad();
              const int ix = x * s.stride + kx - s.pad();
              if (iy < 0 || ix < 0 || iy >= s.height || ix >= s.width) continue;
              for (int out = 0; out < s.out_channels; ++out)
                for (int in = 0; in < s.group_inputs(); ++in) use(n, y, x, out, iy, ix, in, ky, kx);
            }
  }
};

}  // namespace bitcycle::integer::testing
