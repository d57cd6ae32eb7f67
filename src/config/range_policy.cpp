#include "bitcycle/config/range_policy.h"

#include <cassert>

#include <fmt/format.h>

namespace bitcycle {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string judgement_text(const RangeTest::Result& result) {
  switch (result.judgement) {
    case RangeTest::Judgement::good:
      return "enough, " + percent(result.sure) + " sure";
    case RangeTest::Judgement::bad:
      return "too little, " + percent(result.sure) + " sure";
    default:
      return "undecided, so it counts as too little";
  }
}

RangeTestOptions options_of(const PrecisionRecipe& recipe, Step steps) {
  return range_test_options(recipe.range_test.value_or(RangeTestRecipe()), steps);
}

}  // namespace

std::string to_text(const RangeTest::Result& result, int to) {
  const auto& [pairs, share, low, high] = result.found;
  return fmt::format(
      "{} bits keep {:.3f} ± {:.3f} of what {} bits have learned ({} pairs of blocks): {}",
      result.bits, share.value, share.error, to, pairs, judgement_text(result));
}

std::string end_text(const RangeTest& test) {
  switch (test.end()) {
    case RangeTest::End::limit:
      return fmt::format("the test had to end after {} steps, undecided", test.steps());
    case RangeTest::End::nothing_learned:
      return fmt::format("{} bits have not clearly learned anything in {} steps", test.options().to,
                         test.steps());
    default:
      return "";
  }
}

RangePolicy::RangePolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                         RunLength length)
    : RangePolicy(recipe, layers, length, options_of(recipe, length.steps)) {}

RangePolicy::RangePolicy(const PrecisionRecipe& recipe, const std::vector<LayerInfo>& layers,
                         RunLength length, const RangeTestOptions& options)
    : plans_(recipe, layers, length),
      test_(options),
      learned_(outputs_of(layers)),
      steps_(length.steps) {}

StepBits RangePolicy::evaluation(const EvaluationBits& bits, Step step) const {
  if (bits.kind == EvaluationBits::Kind::current) return decide(step);
  return plans_.settled(test_.phases()).evaluation(bits, step);
}

std::optional<StageChange> RangePolicy::observe(Step step, const MetricSums& metrics) {
  if (test_.ended()) return std::nullopt;
  assert(step == test_.steps());
  const RangeTest::Phase before = test_.phases().back();
  test_.observe(learned_.of(metrics));
  const RangeTest::Phase& now = test_.phases().back();
  if (now == before) return std::nullopt;
  return StageChange{
      .step = step + 1, .from = plans_.text(before), .to = plans_.text(now), .reason = reason()};
}

std::string RangePolicy::reason() const {
  const std::vector<RangeTest::Result>& results = test_.results();
  std::string text = end_text(test_);
  if (text.empty()) {
    text = results.empty() ? fmt::format("{} bits have learned enough to test others against",
                                         test_.options().to)
                           : to_text(results.back(), test_.options().to);
  }
  if (!test_.ended()) return text;
  const double share = static_cast<double>(test_.steps()) / static_cast<double>(steps_);
  return text +
         fmt::format("; the test had {} steps, {} of the run", test_.steps(), percent(share));
}

}  // namespace bitcycle
