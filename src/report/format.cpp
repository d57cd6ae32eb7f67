#include "bitcycle/report/format.h"

#include <cmath>

#include <fmt/core.h>

namespace bitcycle {
namespace {

// As many digits as Metric::text shows.
int digits_of(const Metric& metric) {
  return metric.form == MetricForm::mean ? 4 : 2;
}

std::string with_error(const std::string& text, const Metric& metric,
                       const std::optional<double>& error) {
  return error ? fmt::format("{} ± {}", text, score_distance(metric, *error)) : text;
}

}  // namespace

std::string percent_text(double percent) {
  return fmt::format("{:.1f} %", percent);
}

std::string share_text(double part, double whole) {
  return percent_text(100 * part / whole);
}

std::string amount_text(double amount) {
  if (amount == 0) return "0";
  std::string text = fmt::format("{:#.4g}", amount);
  // Behind four whole digits some releases of fmt write "." and others ".0".
  const std::size_t point = text.find('.');
  if (point != std::string::npos && point >= 4) text.resize(point);
  return text;
}

std::string bits_text(int bits) {
  return bits == 0 ? "fp" : std::to_string(bits);
}

std::string steps_text(Step step, Step total) {
  return total > 0 ? fmt::format("step {} of {}", step, total) : fmt::format("step {}", step);
}

std::string score_text(const Measured& score) {
  return std::isfinite(score.value) ? score.metric.text(score.value) : "not finite";
}

std::string score_distance(const Metric& metric, double distance) {
  return fmt::format("{:.{}f}", distance, digits_of(metric));
}

std::string spread_text(const Metric& metric, const Spread& spread) {
  return with_error(score_text({metric, spread.mean}), metric, spread.error);
}

std::string difference_text(const Metric& metric, const Difference& difference) {
  const std::string value = fmt::format("{:+.{}f}", difference.value, digits_of(metric));
  return with_error(value, metric, difference.error);
}

}  // namespace bitcycle
