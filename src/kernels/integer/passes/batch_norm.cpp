// Batch norm's coefficients from the statistics that the passes gather.

#include "bitcycle/kernels/integer/passes.h"

#include <algorithm>
#include <cmath>

namespace bitcycle::integer {

BatchNorm batch_norm_forward(const ChannelStats& stats, std::int64_t count,
                             std::span<const float> gamma, std::span<const float> beta,
                             double epsilon) {
  BatchNorm norm;
  for (std::size_t c = 0; c < stats.sum.size(); ++c) {
    const double mean = stats.sum[c] / static_cast<double>(count);
    const double square = stats.sum_of_squares[c] / static_cast<double>(count);
    const double variance = std::max(square - mean * mean, 0.0);
    const double inverse = 1.0 / std::sqrt(variance + epsilon);
    norm.mean.push_back(static_cast<float>(mean));
    norm.variance.push_back(static_cast<float>(variance));
    norm.inverse_deviation.push_back(static_cast<float>(inverse));
    norm.scale.push_back(static_cast<float>(gamma[c] * inverse));
    norm.shift.push_back(static_cast<float>(beta[c] - mean * gamma[c] * inverse));
  }
  return norm;
}

// dy = scale * (g - mean(g) - xhat * mean(g * xhat)), as a * g + (b * y + c). With running
// statistics dy = scale * g.
BatchNormGradient batch_norm_backward(const BatchNorm& norm, const GradientSums& sums,
                                      std::int64_t count, std::span<const float> fold) {
  BatchNormGradient gradient;
  for (std::size_t i = 0; i < norm.mean.size(); ++i) {
    const double inverse = norm.inverse_deviation[i];
    const double scale = double{norm.scale[i]} * (fold.empty() ? 1.0f : fold[i]);
    gradient.a.push_back(static_cast<float>(scale));
    gradient.gamma.push_back(static_cast<float>(sums.deviation[i] * inverse));
    gradient.beta.push_back(static_cast<float>(sums.gradient[i]));
    if (norm.statistics == Statistics::running) continue;
    const double slope =
        -scale * inverse * inverse * sums.deviation[i] / static_cast<double>(count);
    gradient.b.push_back(static_cast<float>(slope));
    gradient.c.push_back(static_cast<float>(-scale * sums.gradient[i] / static_cast<double>(count) -
                                            slope * norm.mean[i]));
  }
  return gradient;
}

}  // namespace bitcycle::integer
