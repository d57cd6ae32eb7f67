#include "bitcycle/kernels/cross_entropy.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

#include <cmath>

namespace bitcycle {

void log_sums(const ScoreRows& rows, std::span<float> sums) {
  const auto& kernels = elementwise_kernels();
  for_each_block(rows.rows, 1, [&](Block block) {
    const float* row = rows.scores + block.begin * rows.classes;
    const float top = kernels.range(row, rows.classes).high;
    const float sum = kernels.exp_sum(row, rows.classes, top);
    sums[static_cast<std::size_t>(block.begin)] =
        static_cast<float>(double{top} + std::log(double{sum}));
  });
}

void cross_entropy_gradient(const ScoreRows& rows, std::span<const float> sums,
                            std::span<const std::int64_t> targets, std::span<const float> weights,
                            float* gradient) {
  const auto& kernels = elementwise_kernels();
  for_each_block(rows.rows, 1, [&](Block block) {
    const auto r = static_cast<std::size_t>(block.begin);
    float* out = gradient + block.begin * rows.classes;
    kernels.exp_scaled(rows.scores + block.begin * rows.classes, rows.classes, sums[r], weights[r],
                       out);
    if (weights[r] != 0.0f) out[targets[r]] -= weights[r];
  });
}

}  // namespace bitcycle
