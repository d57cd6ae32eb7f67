#include "kernels/integer/conv/conv_grouped.h"

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/codes/codes_at_hand.h"
#include "kernels/integer/gather/stats.h"

#include <algorithm>
#include <cmath>

namespace bitcycle::integer {
namespace {

// Reads codes less their zero point at halo coordinates.
struct CodeReader {
  CodeGrid grid;
  Codes codes;

  int operator()(int n, int y, int x, int c) const {
    return codes.data[n * grid.image_bytes() + y * grid.row_bytes() + x * grid.channels + c] -
           codes.params.zero_point;
  }
};

void write(MutableReal out, std::ptrdiff_t index, float value) {
  if (out.type == Real::f16) {
    static_cast<Half*>(out.data)[index] = to_half(value);
  } else {
    static_cast<float*>(out.data)[index] = value;
  }
}

void count(float value, float* stats) {
  stats[0] += value;
  stats[kPanel] = std::fma(value, value, stats[kPanel]);
  stats[2 * kPanel] = std::min(stats[2 * kPanel], value);
  stats[3 * kPanel] = std::max(stats[3 * kPanel], value);
}

std::ptrdiff_t code_index(const ConvShape& s, int out, int ky, int kx, int in) {
  return ((std::ptrdiff_t{out} * s.kernel + ky) * s.kernel + kx) * s.group_inputs() + in;
}

// Errors of any width, in planes.
class ErrorReader {
 public:
  ErrorReader(const CodeGrid& grid, const Codes& codes) : planes_(planes_of(codes.params)) {
    const std::uint8_t* data = codes.data;
    for (const CodePlane& plane : planes_) {
      readers_.push_back({grid, {data, plane.params}});
      data += grid.batch * grid.image_bytes();
    }
  }
  std::span<const CodeReader> planes() const { return readers_; }
  int operator()(int n, int y, int x, int c) const {
    int difference = 0;
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      difference += planes_[i].worth * readers_[i](n, y, x, c);
    }
    return difference;
  }

 private:
  std::vector<CodePlane> planes_;
  std::vector<CodeReader> readers_;
};

// The sums under one output: of code * (input - zero), and of (input - zero).
struct Sums {
  std::int32_t products = 0;
  std::int32_t box = 0;
};

Sums forward_sums(const ConvShape& s, const CodeReader& input, const ConvWeights& weights, int n,
                  int y, int x, int out) {
  Sums sums;
  const int first = out / s.group_outputs() * s.group_inputs();
  for (int ky = 0; ky < s.kernel; ++ky) {
    for (int kx = 0; kx < s.kernel; ++kx) {
      for (int i = 0; i < s.group_inputs(); ++i) {
        const int value = input(n, y * s.stride + ky, x * s.stride + kx, first + i);
        sums.products += value * weights.codes()[code_index(s, out, ky, kx, i)];
        sums.box += value;
      }
    }
  }
  return sums;
}

float backward_value(const ConvShape& s, const CodeReader& errors, const ConvWeights& weights,
                     int n, int y, int x, int in) {
  std::int32_t products = 0;
  float offset = 0.0f;
  const int group = in / s.group_inputs();
  for (int phase_y = (y + s.pad()) % s.stride, ky = phase_y; ky < s.kernel; ky += s.stride) {
    for (int kx = (x + s.pad()) % s.stride; kx < s.kernel; kx += s.stride) {
      for (int o = group * s.group_outputs(); o < (group + 1) * s.group_outputs(); ++o) {
        const int e = errors(n, (y + s.pad() - ky) / s.stride + s.pad(),
                             (x + s.pad() - kx) / s.stride + s.pad(), o);
        products += e * weights.codes()[code_index(s, o, ky, kx, in % s.group_inputs())];
        offset += weights.offsets()[static_cast<std::size_t>(o)] * static_cast<float>(e);
      }
    }
  }
  return (static_cast<float>(products) + offset) * errors.codes.params.scale;
}

}  // namespace

void grouped_forward(const ConvShape& s, std::span<const ImageCodes> kinds,
                     std::span<const std::size_t> kind_of, const ConvWeights& weights,
                     std::span<const std::vector<float>> scales_of_kinds, MutableReal output,
                     ChannelStats& stats) {
  std::vector<InMemory> codes;
  codes.reserve(kinds.size());
  for (const ImageCodes& kind : kinds) codes.emplace_back(kind.codes, s.input_grid(), kind.images);
  PartialStats partial(s.batch, panels_of(s.out_channels));
#pragma omp parallel for schedule(static)
  for (int n = 0; n < s.batch; ++n) {
    const std::size_t kind = kind_of[static_cast<std::size_t>(n)];
    const CodeReader reader{s.input_grid(), codes[kind].codes()};
    const std::vector<float>& scales = scales_of_kinds[kind];
    std::ptrdiff_t index = std::ptrdiff_t{n} * s.out_height() * s.out_width() * s.out_channels;
    for (int pixel = 0; pixel < s.out_height() * s.out_width(); ++pixel) {
      for (int o = 0; o < s.out_channels; ++o, ++index) {
        const auto c = static_cast<std::size_t>(o);
        const Sums sums =
            forward_sums(s, reader, weights, n, pixel / s.out_width(), pixel % s.out_width(), o);
        const float sum = std::fma(weights.offsets()[c], static_cast<float>(sums.box),
                                   static_cast<float>(sums.products));
        const float value = sum * scales[c];
        write(output, index, value);
        count(value, partial.parcel(n) + o / kPanel * kStatsFloats + o % kPanel);
      }
    }
  }
  partial.reduce(s.out_channels, stats);
}

void grouped_backward_data(const ConvShape& s, Codes errors, std::span<const int> images,
                           const ConvWeights& weights, MutableReal input_gradient) {
  const ErrorReader reader(s.error_grid(), errors);
#pragma omp parallel for schedule(static)
  for (const int n : images) {
    std::ptrdiff_t index = std::ptrdiff_t{n} * s.height * s.width * s.in_channels;
    for (int pixel = 0; pixel < s.height * s.width; ++pixel) {
      for (int i = 0; i < s.in_channels; ++i, ++index) {
        const auto value = [&](const CodeReader& plane) {
          return backward_value(s, plane, weights, n, pixel / s.width, pixel % s.width, i);
        };
        float sum = value(reader.planes()[0]);
        for (const CodeReader& low : reader.planes().subspan(1)) sum += value(low);
        write(input_gradient, index, sum);
      }
    }
  }
}

void grouped_weight_gradient(const ConvShape& s, Codes input, Codes errors,
                             std::span<const int> images, std::span<const double> factors,
                             std::span<float> gradient) {
  const CodeReader source{s.input_grid(), input};
  const ErrorReader error(s.error_grid(), errors);
  const int taps = s.kernel * s.kernel;
#pragma omp parallel for schedule(static)
  for (std::int64_t w = 0; w < s.weights(); ++w) {
    const auto out = static_cast<int>(w / (s.group_inputs() * taps));
    const int in =
        static_cast<int>(w % s.group_inputs()) + out / s.group_outputs() * s.group_inputs();
    const auto tap = static_cast<int>(w / s.group_inputs() % taps);
    const int ky = tap / s.kernel;
    const int kx = tap % s.kernel;
    std::int64_t sum = 0;
    for (const int n : images) {
      for (int y = 0; y < s.out_height(); ++y) {
        for (int x = 0; x < s.out_width(); ++x) {
          sum += std::int64_t{error(n, y + s.pad(), x + s.pad(), out)} *
                 source(n, y * s.stride + ky, x * s.stride + kx, in);
        }
      }
    }
    gradient[static_cast<std::size_t>(w)] =
        static_cast<float>(static_cast<double>(sum) * factors[static_cast<std::size_t>(out)]);
  }
}

}  // namespace bitcycle::integer
