#include "bitcycle/base/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace bitcycle {
namespace {

double square(double x) {
  return x * x;
}

// Sum of squared distances from the mean, in a second pass: exact enough where the one-pass
// formula cancels.
double squared_distances(std::span<const double> values) {
  const double centre = mean(values);
  return std::transform_reduce(values.begin(), values.end(), 0.0, std::plus<>(),
                               [centre](double x) { return square(x - centre); });
}

std::vector<double> values_of(std::span<const SeededValue> group) {
  std::vector<double> values;
  for (const SeededValue& run : group) values.push_back(run.value);
  return values;
}

// The continued fraction of the incomplete beta function, by Lentz's method: the odd and the even
// coefficient of each round.
double beta_fraction(double x, double a, double b) {
  constexpr int kRounds = 1000;
  constexpr double kTiny = 1e-300, kSettled = 1e-15;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= kRounds; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double coefficient : {even, odd}) {
      d = 1 / away_from_zero(1 + coefficient * d);
      c = away_from_zero(1 + coefficient / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < kSettled) break;
  }
  return fraction;
}

// The regularised incomplete beta function. The fraction converges fast on one side of its centre;
// the other follows by symmetry.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return front * beta_fraction(x, a, b) / a;
}

struct Pairs {
  std::vector<double> first, second;
};

Pairs by_seed(std::span<const SeededValue> first, std::span<const SeededValue> second) {
  std::map<std::int64_t, double> left, right;
  for (const SeededValue& run : first) left.emplace(run.seed, run.value);
  for (const SeededValue& run : second) right.emplace(run.seed, run.value);
  Pairs pairs;
  for (const auto& [seed, value] : left) {
    const auto other = right.find(seed);
    if (other == right.end()) continue;
    pairs.first.push_back(value);
    pairs.second.push_back(other->second);
  }
  return pairs;
}

}  // namespace

double mean(std::span<const double> values) {
  assert(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  return std::sqrt(squared_distances(values) / static_cast<double>(values.size() - 1));
}

std::optional<double> standard_error(std::span<const double> values) {
  const std::optional<double> deviation = standard_deviation(values);
  if (!deviation) return std::nullopt;
  return *deviation / std::sqrt(static_cast<double>(values.size()));
}

Spread spread(std::span<const double> values) {
  return {values.size(), mean(values), standard_deviation(values), standard_error(values)};
}

Difference paired_difference(std::span<const double> first, std::span<const double> second) {
  assert(first.size() == second.size());
  std::vector<double> differences(first.size());
  std::transform(first.begin(), first.end(), second.begin(), differences.begin(), std::minus<>());
  Difference difference{.value = mean(differences),
                        .error = standard_error(differences),
                        .pairing = Pairing::same_seed,
                        .pairs = differences.size()};
  if (difference.error) difference.degrees = static_cast<double>(differences.size() - 1);
  return difference;
}

Difference welch_difference(std::span<const double> first, std::span<const double> second) {
  Difference difference{.value = mean(first) - mean(second)};
  if (first.size() < 2 || second.size() < 2) return difference;
  const double a = square(*standard_error(first)), b = square(*standard_error(second));
  const auto n = static_cast<double>(first.size() - 1), m = static_cast<double>(second.size() - 1);
  difference.error = std::sqrt(a + b);
  // Groups without any spread have the limit of equal ones.
  difference.degrees = a + b > 0 ? square(a + b) / (square(a) / n + square(b) / m) : n + m;
  return difference;
}

Difference seeded_difference(std::span<const SeededValue> first,
                             std::span<const SeededValue> second) {
  const Pairs pairs = by_seed(first, second);
  const bool groups = first.size() > 1 && second.size() > 1;
  if (pairs.first.size() > 1 || (pairs.first.size() == 1 && !groups)) {
    return paired_difference(pairs.first, pairs.second);
  }
  return welch_difference(values_of(first), values_of(second));
}

double student_below(double t, double degrees) {
  assert(degrees > 0);
  const double beyond = incomplete_beta(degrees / (degrees + square(t)), degrees / 2, 0.5) / 2;
  return t > 0 ? 1 - beyond : beyond;
}

double quantile(std::span<const double> values, double p) {
  assert(!values.empty() && p >= 0 && p <= 1);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Quartiles quartiles(std::span<const double> values) {
  return {quantile(values, 0), quantile(values, 0.25), quantile(values, 0.5),
          quantile(values, 0.75), quantile(values, 1)};
}

}  // namespace bitcycle
