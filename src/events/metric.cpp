#include "bitcycle/events/metric.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {

double Metric::value(double sum, double count) const {
  switch (form) {
    case MetricForm::mean:
      return sum / count;
    case MetricForm::percent:
      return 100.0 * sum / count;
    case MetricForm::exponential:
      return std::exp(sum / count);
  }
  return sum / count;
}

bool Metric::improves(double value, double than) const {
  return better == Better::higher ? value > than : value < than;
}

std::string Metric::text(double value) const {
  switch (form) {
    case MetricForm::mean:
      return fmt::format("{:.4f}", value);
    case MetricForm::percent:
      return fmt::format("{:.2f} %", value);
    case MetricForm::exponential:
      return fmt::format("{:.2f}", value);
  }
  return fmt::format("{}", value);
}

MetricSums& MetricSums::operator+=(const MetricSums& other) {
  for (const MetricSum& add : other.entries_) {
    const auto own = std::ranges::find(entries_, add.name, &MetricSum::name);
    if (own == entries_.end()) {
      entries_.push_back(add);
      continue;
    }
    own->sum += add.sum;
    own->count += add.count;
  }
  return *this;
}

std::vector<Measured> TaskMetrics::measure(const MetricSums& sums) const {
  std::vector<Measured> measured;
  for (const MetricSum& sum : sums.entries()) {
    const auto metric = std::ranges::find(metrics_, sum.name, &Metric::name);
    assert(metric != metrics_.end());
    measured.push_back({*metric, metric->value(sum.sum, sum.count)});
  }
  return measured;
}

double Score::value(std::string_view name) const {
  const auto found = std::ranges::find_if(
      metrics, [&](const Measured& measured) { return measured.metric.name == name; });
  assert(found != metrics.end());
  return found->value;
}

bool Score::finite() const {
  return std::ranges::all_of(
      metrics, [](const Measured& measured) { return std::isfinite(measured.value); });
}

}  // namespace bitcycle
