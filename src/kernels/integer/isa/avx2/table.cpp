// AVX2. Every function here is entered through the table and never inlined into a caller: inside an
// OpenMP body the compiler would put the accumulators on the stack, at half the speed.

#include "kernels/integer/isa/avx2/depthwise_outer.h"
#include "kernels/integer/isa/avx2/depthwise_rows.h"
#include "kernels/integer/isa/avx2/level_dot.h"
#include "kernels/integer/isa/avx2/linear.h"
#include "kernels/integer/isa/avx2/outer.h"
#include "kernels/integer/isa/avx2/rows.h"
#include "kernels/integer/isa/avx2/store.h"
#include "kernels/integer/isa/avx2/survey.h"
#include "kernels/integer/isa/avx2/winograd.h"
#include "kernels/integer/isa/pass_kernels.h"

namespace bitcycle::integer {
namespace {

constexpr Microkernels kTable{
    .saturates = true,
    .dot = {avx2::dot_long, avx2::kLongPixels},
    .level_pixels = avx2::kLevelPixels,
    .unsigned_dot = avx2::kLevelDots<avx2::UnsignedSource>,
    .signed_dot = avx2::kLevelDots<avx2::SignedSource>,
    .winograd = {avx2::winograd_transform, avx2::winograd_multiply},
    .outer = nullptr,
    .outer_rows = 0,
    .quartets = avx2::kQuartets,
    .store = avx2::kStores,
    .pixel_sums = avx2::pixel_sums,
    .weighted_pixel_sums = avx2::weighted_pixel_sums,
    .chain_steps = avx2::chain_steps,
    .survey = avx2::survey,
    .within = nullptr,
    .interleave = avx2::interleave,
    .survey_quartets = avx2::survey_quartets,
    .step_sums = nullptr,
    .depthwise = avx2::depthwise,
    .depthwise_outer = avx2::depthwise_outer,
    .linear = &avx2::kLinear,
    .passes = &kAvx2Passes,
};

}  // namespace

const Microkernels& avx2_microkernels() {
  return kTable;
}

}  // namespace bitcycle::integer
