#pragma once

// What several runs of one thing say: where they lie, how far they spread, and how sure a
// difference between two groups is. Spreads are sample statistics (divided by n - 1), so one value
// has none.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bitcycle {

// Of at least one value.
double mean(std::span<const double> values);
// Square root of sum (x - mean)^2 / (n - 1).
std::optional<double> standard_deviation(std::span<const double> values);
// Of the mean: standard deviation / sqrt(n).
std::optional<double> standard_error(std::span<const double> values);

struct Spread {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> deviation, error;  // standard deviation, standard error of the mean
};
Spread spread(std::span<const double> values);

// How a difference of two groups was taken.
enum class Pairing {
  same_seed,  // the mean of the differences of pairs
  welch,      // the difference of the groups' means
};

// first - second.
struct Difference {
  double value = 0;
  std::optional<double> error = {};    // standard error of the value
  std::optional<double> degrees = {};  // of freedom, of that error
  Pairing pairing = Pairing::welch;
  std::size_t pairs = 0;  // 0 without pairing
};

// Of runs that differ in nothing but what is compared: first[i] belongs with second[i]. What both
// share (the seed's data order, the initial weights) cancels, so the standard error, sd(first -
// second) / sqrt(n) with n - 1 degrees of freedom, is smaller than that of groups.
Difference paired_difference(std::span<const double> first, std::span<const double> second);

// Of groups that share nothing and may spread differently (Welch 1947): the standard error is
// sqrt(a + b) with a = var(first) / n, b = var(second) / m, and the degrees of freedom are
// (a + b)^2 / (a^2 / (n - 1) + b^2 / (m - 1)), after Satterthwaite.
Difference welch_difference(std::span<const double> first, std::span<const double> second);

// The share of Student's t distribution with so many degrees of freedom, more than 0, that lies
// below t.
double student_below(double t, double degrees);

// A result and the seed it was reached with.
struct SeededValue {
  std::int64_t seed = 0;
  double value = 0;
};

// The surest of both: pairs over the seeds that both groups have, when there are two or more;
// Welch's otherwise. Where neither knows a standard error, the one pair or else the means are
// compared without. Seeds are taken once each: of several values with one seed, the first counts
// for pairs.
Difference seeded_difference(std::span<const SeededValue> first,
                             std::span<const SeededValue> second);

// The value below which a share p, 0 to 1, of the sorted values lies, interpolated linearly between
// neighbours (R's type 7, NumPy's default).
double quantile(std::span<const double> values, double p);

// What a box plot draws.
struct Quartiles {
  double least = 0, lower = 0, median = 0, upper = 0, most = 0;
};
Quartiles quartiles(std::span<const double> values);

}  // namespace bitcycle
