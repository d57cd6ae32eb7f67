#pragma once

// What a task measures of itself. A metric is a sum and a count under a name, so that steps,
// batches and processes add up; what people see is a form of their quotient.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

enum class MetricForm {
  mean,         // sum / count
  percent,      // 100 sum / count
  exponential,  // exp(sum / count): a perplexity
};
enum class Better { higher, lower };

struct Metric {
  std::string name;  // its key in metrics.jsonl
  MetricForm form = MetricForm::mean;
  Better better = Better::lower;

  double value(double sum, double count) const;
  bool improves(double value, double than) const;
  // As people read it: "87.52 %", "2.3026", "103.45".
  std::string text(double value) const;
};

struct MetricSum {
  std::string name;
  double sum = 0;
  double count = 0;
  bool operator==(const MetricSum&) const = default;
};

// Sums by name, in the order in which the names came.
class MetricSums {
 public:
  MetricSums() = default;
  MetricSums(std::initializer_list<MetricSum> sums) : entries_(sums) {}

  MetricSums& operator+=(const MetricSums& other);
  const std::vector<MetricSum>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::vector<MetricSum> entries_;
};

// A metric and what it came to.
struct Measured {
  Metric metric;
  double value = 0;
};

// The metrics that a task knows; by the first of them a model is called better than another.
class TaskMetrics {
 public:
  TaskMetrics(std::initializer_list<Metric> metrics) : metrics_(metrics) {}

  const Metric& primary() const { return metrics_.front(); }
  // In the order of the sums, whose names must all be known.
  std::vector<Measured> measure(const MetricSums& sums) const;

 private:
  std::vector<Metric> metrics_;
};

// What a model scored on a part of the data.
struct Score {
  std::vector<Measured> metrics;
  std::int64_t count = 0;        // of what was scored
  std::string unit = "samples";  // of `count`

  double value(std::string_view name) const;
  bool finite() const;
};

}  // namespace bitcycle
