#include "bitcycle/config/loss_indicator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace bitcycle {
namespace {

constexpr int kDecays = 2;  // as in the authors' code: no decay at the third turning point or later

}  // namespace

LossIndicator::LossIndicator(const LossIndicatorOptions& options, LossIndicatorState state)
    : options_(options), state_(std::move(state)) {}

std::optional<TurningPoint> LossIndicator::observe(double loss) {
  assert(std::isfinite(loss));
  if (state_.norm_count < options_.normalising) {
    state_.norm_sum += loss;
    ++state_.norm_count;
  }
  if (rests()) return std::nullopt;
  std::vector<double>& window = state_.window;
  window.push_back(loss);
  const auto capacity = static_cast<std::size_t>(options_.window);
  if (window.size() > capacity) window.erase(window.begin(), window.end() - options_.window);
  const std::optional<double> found = difference();
  if (!found || !(*found <= threshold())) return std::nullopt;
  return turn();
}

TurningPoint LossIndicator::turn() {
  assert(!rests());
  const TurningPoint point{difference(), threshold()};
  ++state_.stage;
  state_.window.clear();
  return point;
}

double LossIndicator::threshold_of(int stage) const {
  double threshold = options_.epsilon;
  for (int i = 0; i < std::min(stage, kDecays); ++i) threshold *= options_.alpha;
  return threshold;
}

double LossIndicator::scale() const {
  return state_.norm_count == 0 ? 1.0 : state_.norm_sum / static_cast<double>(state_.norm_count);
}

// A loss with a penalty that may be negative can have a negative mean.
std::optional<double> LossIndicator::difference() const {
  const std::vector<double>& window = state_.window;
  if (window.size() < static_cast<std::size_t>(options_.window)) return std::nullopt;
  double largest = 0;
  for (const double loss : window) largest = std::max(largest, std::abs(loss - window.back()));
  return largest / std::abs(scale());
}

}  // namespace bitcycle
