#include "data/resample.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle {
namespace {

// Weights in fixed point: 8 bits of pixel and 2 bits of headroom leave 22 of 32.
constexpr int kFractionBits = 22;

// What one output pixel takes from the input along one axis.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

// A triangle around the output pixel's centre, whose half-width is one input pixel when enlarging
// and one output pixel when shrinking (that is the antialiasing), normalised to sum 1.
Taps taps_of(int index, int in_size, int out_size) {
  const double scale = static_cast<double>(in_size) / out_size;
  const double reach = std::max(scale, 1.0);
  const double center = (index + 0.5) * scale;
  const int first = std::max(static_cast<int>(center - reach + 0.5), 0);
  const int last = std::min(static_cast<int>(center + reach + 0.5), in_size);
  std::vector<double> weights;
  double sum = 0;
  for (int i = first; i < last; ++i) {
    weights.push_back(std::max(1.0 - std::abs((i - center + 0.5) * (1.0 / reach)), 0.0));
    sum += weights.back();
  }
  Taps taps{first, {}};
  for (double w : weights) {
    taps.weights.push_back(static_cast<std::int32_t>(0.5 + w / sum * (1 << kFractionBits)));
  }
  return taps;
}

// Pixels seen as outer x axis x inner: one shape for resizing rows (inner = channels) and columns
// (inner = a row).
struct Axis {
  std::size_t outer = 0;
  int size = 0;
  std::size_t inner = 0;
};

void add_weighted(const std::uint8_t* in, std::int32_t weight, std::vector<std::int32_t>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += in[i] * weight;
}

std::vector<std::uint8_t> resize_axis(const std::vector<std::uint8_t>& in, Axis axis,
                                      int out_size) {
  if (axis.size == out_size) return in;
  std::vector<Taps> taps;
  for (int i = 0; i < out_size; ++i) taps.push_back(taps_of(i, axis.size, out_size));
  std::vector<std::uint8_t> out(axis.outer * static_cast<std::size_t>(out_size) * axis.inner);
  std::vector<std::int32_t> sums(axis.inner);
  std::uint8_t* to = out.data();
  for (std::size_t block = 0; block < axis.outer; ++block) {
    const std::uint8_t* from = in.data() + block * static_cast<std::size_t>(axis.size) * axis.inner;
    for (const Taps& tap : taps) {
      std::fill(sums.begin(), sums.end(), 1 << (kFractionBits - 1));
      const std::uint8_t* pixel = from + static_cast<std::size_t>(tap.first) * axis.inner;
      for (std::int32_t weight : tap.weights) {
        add_weighted(pixel, weight, sums);
        pixel += axis.inner;
      }
      for (std::int32_t sum : sums) {
        *to++ = static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
      }
    }
  }
  return out;
}

}  // namespace

Image cut(const Image& image, const Window& window) {
  assert(window.top >= 0 && window.top + window.height <= image.shape.height);
  assert(window.left >= 0 && window.left + window.width <= image.shape.width);
  Image out{{image.shape.channels, window.height, window.width}, {}};
  out.pixels.reserve(static_cast<std::size_t>(out.shape.elements()));
  for (int y = 0; y < window.height; ++y) {
    const std::int64_t pixel = (std::int64_t{window.top} + y) * image.shape.width + window.left;
    const auto first = image.pixels.begin() + pixel * image.shape.channels;
    out.pixels.insert(out.pixels.end(), first,
                      first + std::int64_t{window.width} * image.shape.channels);
  }
  return out;
}

Image resize(const Image& image, int height, int width) {
  const ImageShape& in = image.shape;
  const auto channels = static_cast<std::size_t>(in.channels);
  const Axis columns{static_cast<std::size_t>(in.height), in.width, channels};
  const Axis rows{1, in.height, static_cast<std::size_t>(width) * channels};
  return {{in.channels, height, width},
          resize_axis(resize_axis(image.pixels, columns, width), rows, height)};
}

}  // namespace bitcycle
