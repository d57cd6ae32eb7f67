#pragma once

// What the integer kernels work on: 8-bit codes in NHWC order with a halo, and real tensors (half
// or float) in dense NHWC order. Everything here is a view; the caller owns the memory and can
// reuse it from step to step. Note [Integer scheme] in docs/numerics.md has the equations.

#include "bitcycle/kernels/integer/half.h"
#include "bitcycle/kernels/range.h"

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace bitcycle::integer {

inline constexpr int kMinBits = 2;
inline constexpr int kMaxBits = 8;
inline constexpr int kMaxErrorBits = 16;  // errors alone: Note [Wide errors] in code_planes.h

// Vector loads may reach past the last code of a buffer by fewer than this many bytes.
inline constexpr std::size_t kCodeSlack = 64;

// Where codes lie: batch x (height + 2 halo) x (width + 2 halo) x channels bytes. The halo holds
// the zero point, so a convolution's zero padding is exact and needs no border cases.
struct CodeGrid {
  int batch = 1;
  int height = 1;
  int width = 1;
  int channels = 1;
  int halo = 0;

  std::ptrdiff_t row_bytes() const { return std::ptrdiff_t{width + 2 * halo} * channels; }
  std::ptrdiff_t image_bytes() const { return row_bytes() * (height + 2 * halo); }
  // Size of a buffer for the grid, slack included.
  std::size_t bytes() const { return static_cast<std::size_t>(image_bytes()) * batch + kCodeSlack; }
  // Codes without the halo.
  std::int64_t elements() const { return std::int64_t{batch} * height * width * channels; }
};

// value = scale * (code - zero_point), codes in [0, 2^bits - 1].
struct CodeParams {
  float scale = 1.0f;
  float inverse_scale = 1.0f;  // the quantizer multiplies by it
  int zero_point = 0;
  int bits = kMaxBits;

  int largest_code() const { return (1 << bits) - 1; }
  bool operator==(const CodeParams&) const = default;
};

// The scale and zero point that cover `range` widened to hold 0, so that 0 has a code of its own.
CodeParams code_params(Range range, int bits);

// Makes the codes of one image at a time, halo included. Called by several threads at once.
class CodeMaker {
 public:
  virtual ~CodeMaker() = default;
  virtual void make(int image, std::uint8_t* codes) const = 0;
  // Codes of more than 8 bits, in two planes (code_planes.h); only errors have such.
  virtual void make_wide(int /*image*/, std::uint8_t* /*high*/, std::uint8_t* /*low*/) const {
    assert(!"this maker makes codes of up to 8 bits");
  }
};

// The codes of a grid: in memory, or made by whoever works on an image, just before, so that they
// never leave that thread's cache. Those of more than 8 bits are always made.
struct Codes {
  const std::uint8_t* data = nullptr;
  CodeParams params;
  const CodeMaker* maker = nullptr;  // where data is null
};

enum class Real { f16, f32 };
constexpr std::ptrdiff_t bytes_of(Real type) {
  return type == Real::f16 ? 2 : 4;
}

// A dense NHWC tensor of reals, or nothing. The elementwise passes take some images of a larger
// one too: image n of the view is then image rows[n] in memory.
template <typename Void, typename HalfPointer, typename FloatPointer>
struct BasicReal {
  Void* data = nullptr;
  Real type = Real::f16;
  const int* rows = nullptr;  // null: all images, one after the other

  BasicReal() = default;
  BasicReal(HalfPointer values) : data(values), type(Real::f16) {}
  BasicReal(FloatPointer values) : data(values), type(Real::f32) {}
  explicit operator bool() const { return data != nullptr; }
  std::ptrdiff_t row(int image) const { return rows != nullptr ? rows[image] : image; }
};
using RealView = BasicReal<const void, const Half*, const float*>;
using MutableReal = BasicReal<void, Half*, float*>;

}  // namespace bitcycle::integer
