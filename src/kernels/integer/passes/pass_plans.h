#pragma once

// What the images of a fused pass share: the operands, and coefficients padded to panels.

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/pass_kernels.h"
#include "kernels/integer/weights/weights.h"

#include <cassert>

namespace bitcycle::integer {

inline const PassKernels& passes() {
  return *microkernels().passes;
}
inline int index(Real type) {
  return static_cast<int>(type);
}

inline std::int64_t image_elements(const CodeGrid& grid) {
  return std::int64_t{grid.height} * grid.width * grid.channels;
}

// The part of a tensor that belongs to image n; null stays null.
template <typename View>
auto image_of(View view, const CodeGrid& grid, int n) -> decltype(view.data) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>,
                                  const char, char>;
  if (view.data == nullptr) return nullptr;
  return static_cast<Byte*>(view.data) + view.row(n) * bytes_of(view.type) * image_elements(grid);
}

// Where the bit mask of image n starts.
inline std::size_t mask_offset(const CodeGrid& grid, int n) {
  return mask_bytes(grid) / static_cast<std::size_t>(grid.batch) * static_cast<std::size_t>(n);
}

// Runs work(n) for every image on the threads.
template <typename Work>
void each_image(const CodeGrid& grid, Work work) {
#pragma omp parallel for schedule(static)
  for (int n = 0; n < grid.batch; ++n) work(n);
}

struct ActivationPlan {
  CodeGrid grid;
  ActivationSource source;
  std::vector<float> scale, shift;
  float floor;

  ActivationPlan(const CodeGrid& g, const ActivationSource& s)
      : grid(g),
        source(s),
        scale(to_panels(s.scale, g.channels, s.scale.empty() ? 1.0f : 0.0f)),
        shift(to_panels(s.shift, g.channels)),
        floor(s.activation == Rectify::relu ? 0.0f : -kInfinity) {
    assert(!s.residual || s.residual.type == s.y.type);
  }
  ActivateJob image(int n) const {
    ActivateJob job{};
    job.grid = grid;
    job.y = image_of(source.y, grid, n);
    job.residual = image_of(source.residual, grid, n);
    job.scale = scale.data();
    job.shift = shift.data();
    job.floor = floor;
    return job;
  }
};

struct GradientPlan {
  CodeGrid grid;
  GradientSource source;
  std::vector<float> scale, shift;

  GradientPlan(const CodeGrid& g, const GradientSource& s)
      : grid(g),
        source(s),
        scale(to_panels(s.scale, g.channels)),
        shift(to_panels(s.shift, g.channels)) {
    assert(!s.residual || s.residual.type == s.gradient.type);
    assert(!s.y || s.y.type == s.gradient.type);
    assert(s.per_channel.empty() ||
           std::ssize(s.per_channel) == std::ptrdiff_t{g.batch} * g.channels);
  }
  GradientJob image(int n) const {
    GradientJob job{};
    job.grid = grid;
    job.gradient = image_of(source.gradient, grid, n);
    job.residual = image_of(source.residual, grid, n);
    job.y = image_of(source.y, grid, n);
    if (source.mask != nullptr) job.mask = source.mask + mask_offset(grid, n);
    job.scale = source.scale.empty() ? nullptr : scale.data();
    job.shift = shift.data();
    if (!source.per_channel.empty()) {
      job.per_channel = source.per_channel.data() + std::ptrdiff_t{n} * grid.channels;
    }
    return job;
  }
};

}  // namespace bitcycle::integer
