// AVX2. Every function here is entered through the table and never inlined into a caller: inside an
// OpenMP body the compiler would put the accumulators on the stack, at half the speed.

#include "kernels/integer/avx2_depthwise.h"
#include "kernels/integer/avx2_dot.h"
#include "kernels/integer/avx2_outer.h"
#include "kernels/integer/avx2_rows.h"
#include "kernels/integer/avx2_store.h"
#include "kernels/integer/pass_kernels.h"

namespace bitcycle::integer {
namespace {

constexpr Microkernels kTable{
    .saturates = true,
    .dot = {{avx2::dot_short, avx2::kShortPixels},
            {avx2::dot_long, avx2::kLongPixels},
            {avx2::dot_long, avx2::kLongPixels},
            {avx2::dot_long, avx2::kLongPixels}},
    .dot_signed = {avx2::dot_signed, avx2::kShortPixels},
    .dot_wide = {avx2::dot_wide, avx2::kShortPixels},
    .outer = {avx2::outer_short<1>, avx2::outer_short<2>, avx2::outer_short<4>, avx2::outer_long},
    .outer_wide = avx2::outer_wide,
    .store = avx2::kStores,
    .pixel_sums = avx2::pixel_sums,
    .weighted_pixel_sums = avx2::weighted_pixel_sums,
    .pairs_fit = avx2::pairs_fit,
    .signed_pairs_fit = avx2::signed_pairs_fit,
    .interleave = avx2::interleave,
    .step_sums = avx2::step_sums,
    .depthwise = avx2::depthwise,
    .depthwise_outer = avx2::depthwise_outer,
    .passes = &kAvx2Passes,
};

}  // namespace

const Microkernels& avx2_microkernels() {
  return kTable;
}

}  // namespace bitcycle::integer
