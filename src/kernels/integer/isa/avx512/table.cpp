// AVX-512 with VNNI. vpdpbusd multiplies u8 by s8 exactly into 32 bits, so no width needs a special
// case here. What is bound by memory or loads is left at 256 bits, compiled for this set.

#include "kernels/integer/isa/avx2/rows.h"
#include "kernels/integer/isa/avx512/depthwise.h"
#include "kernels/integer/isa/avx512/depthwise_outer.h"
#include "kernels/integer/isa/avx512/linear.h"
#include "kernels/integer/isa/avx512/outer.h"
#include "kernels/integer/isa/avx512/rows.h"
#include "kernels/integer/isa/avx512/store.h"
#include "kernels/integer/isa/avx512/winograd.h"
#include "kernels/integer/isa/pass_kernels.h"

namespace bitcycle::integer {
namespace {

#if defined(BITCYCLE_SIMDE)
constexpr const PassKernels* kPasses = &kEmulatedAvx512Passes;
#else
constexpr const PassKernels* kPasses = &kAvx512Passes;
#endif

constexpr Microkernels kTable{
    .saturates = false,
    .dot = {avx512::dot, avx512::kDotPixels, avx512::kDotPanels},
    .level_pixels = 0,
    .unsigned_dot = {},
    .signed_dot = {},
    .winograd = {avx2::winograd_transform, avx512::winograd_multiply, TileSums::wide},
    .outer = avx512::outer,
    .outer_rows = kMaxTapRows,
    .quartets = {},
    .store = avx512::kStores,
    .pixel_sums = avx2::pixel_sums,
    .weighted_pixel_sums = avx2::weighted_pixel_sums,
    .chain_steps = nullptr,
    .survey = nullptr,
    .within = avx512::within,
    .interleave = avx512::interleave,
    .survey_quartets = nullptr,
    .step_sums = avx512::step_sums,
    .depthwise = avx512::depthwise,
    .depthwise_outer = avx512::depthwise_outer,
    .linear = &avx512::kLinear,
    .passes = kPasses,
};

}  // namespace

#if defined(BITCYCLE_SIMDE)
const Microkernels& emulated_avx512_microkernels() {
  return kTable;
}
#else
const Microkernels& avx512_microkernels() {
  return kTable;
}
#endif

}  // namespace bitcycle::integer
