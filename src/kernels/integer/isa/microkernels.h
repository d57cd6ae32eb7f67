#pragma once

// The table of inner loops that each instruction set fills in, one source file a set. Everything
// around them (packing, phases, threads, corrections for zero points) is plain C++ and shared.
//
// Vocabulary: a panel is the weights of 16 output channels; a step is 4 consecutive bytes of the
// reduced dimension, 64 bytes of a panel. Note [Exact dot products] says when 16-bit accumulation
// is allowed.

#include "bitcycle/kernels/integer/tensor.h"
#include "bitcycle/kernels/isa.h"

#include "kernels/integer/isa/depthwise_kernels.h"
#include "kernels/integer/isa/exact_sums.h"
#include "kernels/integer/isa/linear_kernels.h"
#include "kernels/integer/isa/winograd_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bitcycle::integer {

inline constexpr int kPanel = 16;        // channels of a panel
inline constexpr int kStepBytes = 64;    // kPanel * 4
inline constexpr int kMaxPixels = 16;    // most pixels that one dot block takes
inline constexpr int kMaxPanels = 2;     // most panels
inline constexpr int kMaxTapRows = 3;    // most rows of taps that one outer product takes
inline constexpr int kQuartetSteps = 4;  // steps that share a level in backward-weights

// A run of steps that are contiguous in the source, `offset` bytes after a pixel's first. `flush`
// asks for 16-bit sums to be widened after the run.
struct Segment {
  std::int32_t offset;
  std::int32_t steps;
  bool flush;
};

// sums[p][c] = sum over steps of source(p) . panel(c), for `blocks` blocks of pixels and each of
// `panels` panels
struct DotJob {
  const std::uint8_t* source;
  const std::int32_t* offsets;  // of each pixel
  int blocks;
  const std::uint8_t* order;  // which blocks, where there are levels; else the first ones
  const std::int8_t* panel;
  std::span<const Segment> segments;
  int zero;                   // taken off the source by the 16-bit kernel for signed sources
  const std::int32_t* start;  // where the sums of each pixel start, for signed sources
  std::int32_t* sums;
  int panels = 1;
  std::ptrdiff_t panel_bytes = 0;  // from one panel to the next, and from its sums to the next ones
  std::ptrdiff_t panel_sums = 0;
  int tap_bytes = 0;  // of one of three taps in a row, where a pixel's neighbour is one tap further
};

using DotKernel = void (*)(const DotJob&);

// Dot products of blocks of `pixels` pixels with at most `panels` panels.
struct DotKernels {
  DotKernel run = nullptr;
  int pixels = 0;
  int panels = 1;
};

// The same at each level. Signed sources are differences from the zero point, against weights that
// are raised to unsigned ones.
struct LevelDots {
  DotKernel run[kLevels] = {};
};

// y = fma(channel_offset, box, float(sum + channel_int)) * channel_scale, which may go into the
// statistics (squares by fma as well), or be added to another number first. `box` is one number a
// pixel, or 16 for depthwise convolutions.
struct StoreJob {
  const std::int32_t* sums;
  int pixels;
  int channels;                 // of the panel that exist, at most 16
  const std::int32_t* offsets;  // of each pixel in `output`, in elements
  const float* boxes;
  const std::int32_t* channel_int;
  const float* channel_offset;
  const float* channel_scale;
  void* output;
  float* stats;        // [sum, sum of squares, low, high][16]
  const float* added;  // at the same offsets as `output`; a panel may be read as a whole
};

enum class Box { pixel, channel };
enum class Sink { plain, counted, added };

using StoreKernel = void (*)(const StoreJob&);
using StoreKernels = std::array<std::array<std::array<StoreKernel, 3>, 2>, 2>;  // [Real][Box][Sink]

// The table of a `Store` whose call<T, box, sink> is the kernel.
template <typename Store>
constexpr StoreKernels make_stores() {
  constexpr auto of_type = []<typename T>(T*) {
    return std::array<std::array<StoreKernel, 3>, 2>{
        {{Store::template call<T, Box::pixel, Sink::plain>,
          Store::template call<T, Box::pixel, Sink::counted>,
          Store::template call<T, Box::pixel, Sink::added>},
         {Store::template call<T, Box::channel, Sink::plain>,
          Store::template call<T, Box::channel, Sink::counted>,
          Store::template call<T, Box::channel, Sink::added>}}};
  };
  return {of_type(static_cast<Half*>(nullptr)), of_type(static_cast<float*>(nullptr))};
}

// sums[16][16] += errors^T . columns over `images` images of `steps` steps; errors are
// [step][16][4] signed, columns [step][16][4] unsigned. The same for further rows of taps, whose
// columns and sums lie some way off.
struct OuterJob {
  const std::uint8_t* columns;
  const std::int8_t* errors;
  int images;
  std::ptrdiff_t column_stride;
  std::ptrdiff_t error_stride;
  int steps;
  std::int32_t* sums;
  int rows = 1;  // of taps, at most Microkernels::outer_rows
  std::array<std::ptrdiff_t, kMaxTapRows> row_columns = {};
  std::ptrdiff_t row_sums = 0;
};
using OuterKernel = void (*)(const OuterJob&);

// The same over chains of quartets of kQuartetSteps steps of one level. `zero` was taken off the
// errors, which wrap around at QuartetLevel::wide.
struct QuartetChain {
  std::int32_t columns, errors;  // byte offsets
  std::int32_t quartets;
};
struct QuartetsJob {
  const std::uint8_t* columns;
  const std::int8_t* errors;
  std::span<const QuartetChain> chains;
  int zero;
  std::int32_t* sums;
};
using QuartetsKernel = void (*)(const QuartetsJob&);

struct Span {
  int low, high;  // both included
};
// Codes whose differences from a zero point are 8-bit numbers.
constexpr Span byte_differences(int zero) {
  return {std::max(0, zero - 128), std::min(255, zero + 127)};
}

// One pass over the codes of a run of pixels.
struct SurveyJob {
  const std::uint8_t* codes;
  int pixels;
  int channels;
  int zero;
  int limit;                  // of the sums in a lane
  int row_pixels;             // under a row of taps
  std::uint8_t* levels;       // of each pixel
  std::uint8_t* differences;  // from the zero point, or null: levels are those of the codes
  std::int32_t* sums;         // of each pixel's codes
};

// The same for quartets of interleaved errors that had `zero` taken off.
struct QuartetSurveyJob {
  const std::uint8_t* panel;
  int quartets;
  int zero;
  int limit;
  QuartetLevel* levels;
  int* chains;  // of a first quartet: the quartets of its chain; else 1
};

struct PassKernels;

struct Microkernels {
  bool saturates;    // whether Note [Exact dot products] applies
  DotKernels dot;    // chains that the weights allow
  int level_pixels;  // of a block of `unsigned_dot` and `signed_dot`
  LevelDots unsigned_dot;
  LevelDots signed_dot;
  WinogradKernels winograd;
  OuterKernel outer;  // null where sums saturate
  int outer_rows;
  std::array<QuartetsKernel, kQuartetLevels> quartets;  // there instead
  StoreKernels store;

  // Sum of each pixel's codes.
  void (*pixel_sums)(const std::uint8_t* codes, int pixels, int channels, std::int32_t* sums);
  // Sum of weight[c] * (code - zero) by fma in 8 interleaved partial sums, the same on every set;
  // weights are padded with zeros to panels.
  void (*weighted_pixel_sums)(const std::uint8_t* codes, int pixels, int channels, int zero,
                              const float* weights, float* sums);
  // The steps at the front of a panel whose lanes have positive and negative weights of at most
  // `limit` each. This and the surveys are null where nothing saturates.
  int (*chain_steps)(const std::int8_t* panel, int steps, int limit);
  void (*survey)(const SurveyJob&);
  // This and step_sums are null where something saturates.
  bool (*within)(const std::uint8_t* codes, std::ptrdiff_t bytes, Span span);
  // 16 columns of `pixels` pixels as [step][16][4] with `subtract` taken off; the last step is
  // filled up with 0.
  void (*interleave)(const std::uint8_t* source, std::ptrdiff_t pixel_stride, int pixels,
                     std::uint8_t subtract, std::uint8_t* panel);
  void (*survey_quartets)(const QuartetSurveyJob&);
  // sums[16] = sum over steps and their 4 bytes.
  void (*step_sums)(const std::uint8_t* panel, int steps, std::int32_t* sums);

  void (*depthwise)(const DepthwiseJob&);
  void (*depthwise_outer)(const DepthwiseOuterJob&);

  const LinearKernels* linear;  // fully connected layers
  const PassKernels* passes;    // the elementwise work, see pass_kernels.h
};

const Microkernels& scalar_microkernels();
const Microkernels& avx2_microkernels();
const Microkernels& avx512_microkernels();
const Microkernels& emulated_avx512_microkernels();  // in tests only

// The table in use: that of active_isa(), or of the set that a test or bench asked for.
const Microkernels& microkernels();

// Makes microkernels() answer for another set as long as it lives; for tests and benches.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  explicit ScopedIsa(const Microkernels& table);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  const Microkernels* previous_;
};

}  // namespace bitcycle::integer
