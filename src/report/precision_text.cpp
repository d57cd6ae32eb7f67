#include "bitcycle/report/precision_text.h"

#include "bitcycle/config/backend.h"
#include "bitcycle/schedule/schedule.h"
#include "bitcycle/schedule/spec.h"

#include "config/fields.h"
#include "schedule/expression.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle {
namespace {

std::string progressive_text(const ProgressiveRecipe& recipe) {
  return fmt::format("PFQ {}/{}", fmt::join(recipe.forward, "-"), fmt::join(recipe.backward, "-"));
}

std::string dynamic_text(const DynamicRecipe& recipe) {
  return fmt::format("{} {}w cp {}", recipe.target.size() > 1 ? "FracTrain" : "DFQ", *recipe.weight,
                     fmt::join(recipe.target, "-"));
}

std::string range_test_text(const RangeTestRecipe& test) {
  return fmt::format("auto {} {}-{}", test.schedule, test.from, test.to);
}

bool is_expression(const ScheduleSpec& spec) {
  const std::vector<std::string> names = schedule_names();
  return std::ranges::find(names, spec.name) == names.end();
}

// An expression of one part says the same by name and numbers.
ScheduleSpec plain(const ScheduleSpec& spec) {
  if (spec.name == kAutomaticForward || !is_expression(spec)) return spec;
  const std::vector<SchedulePart> parts = parse_expression(spec);
  return parts.size() == 1 ? parts.front().spec : spec;
}

}  // namespace

std::string schedule_text(const ScheduleSpec& stated) {
  const ScheduleSpec spec = plain(stated);
  if (spec.name == kAutomaticForward) return spec.name;
  if (is_float(spec)) return "fp";
  if (is_expression(spec)) return spec.name;
  const int min = spec.min.value_or(spec.max);
  return min == spec.max ? fmt::format("{} {}", spec.name, spec.max)
                         : fmt::format("{} {}-{}", spec.name, min, spec.max);
}

std::string full_schedule_text(const ScheduleSpec& stated) {
  const ScheduleSpec spec = plain(stated);
  const ScheduleTraits has = traits_of(spec);
  const ScheduleSpec usual;
  std::string text = schedule_text(spec);
  if (has.fixed || text == kAutomaticForward) return text;
  const auto add = [&](const char* name, double value, double as_usual) {
    if (value != as_usual) text += fmt::format(", {} {:g}", name, value);
  };
  if (has.cyclic && !is_expression(spec)) text += fmt::format(" x{}", spec.cycles);
  if (has.rex) add("beta", spec.beta, usual.beta);
  if (has.exponential) add("rate", spec.rate, usual.rate);
  add("start", spec.start, usual.start);
  add("end", spec.end, usual.end);
  if (spec.cycle_length != usual.cycle_length) {
    text += ", " + words(spec.cycle_length)[static_cast<std::size_t>(spec.cycle_length)];
  }
  return text;
}

namespace {

std::string bits_text(const PrecisionRecipe& precision) {
  const std::string overrides = precision.overrides.empty() ? "" : " with overrides";
  if (precision.progressive) return progressive_text(*precision.progressive) + overrides;
  if (precision.dynamic) return dynamic_text(*precision.dynamic) + overrides;
  const auto text_of = [&](const std::optional<ScheduleSpec>& own) {
    if (!own && is_automatic(precision)) {
      return range_test_text(precision.range_test.value_or(RangeTestRecipe()));
    }
    return schedule_text(own.value_or(precision.forward));
  };
  const std::string weight = text_of(precision.weight), activation = text_of(precision.activation);
  const std::string forward = weight == activation ? weight : weight + "w " + activation + "a";
  if (forward == "fp") return "float";
  const ScheduleSpec& back = precision.backward;
  const bool plain = back.name == "static" && back.max != 0;
  return forward + "/" + (plain ? std::to_string(back.max) : schedule_text(back)) + overrides;
}

// The name of a scheme that no backend has of itself, else "".
std::string named_scheme(const PrecisionRecipe& precision) {
  switch (precision.scheme) {
    case SchemeName::automatic:
    case SchemeName::sbm:
    case SchemeName::integer:
      return "";
    default:
      return name(precision.scheme);
  }
}

}  // namespace

std::string precision_text(const PrecisionRecipe& precision) {
  const std::string text = bits_text(precision), scheme = named_scheme(precision);
  return text == "float" || scheme.empty() ? text : text + " " + scheme;
}

std::string scheme_text(const PrecisionRecipe& precision, std::string_view backend) {
  if (bits_text(precision) == "float") return "float";
  const bool settled = backend == name(Backend::simulate) || backend == name(Backend::integer);
  return name(settled ? settled_scheme(precision.scheme, parse_backend(backend))
                      : precision.scheme);
}

std::string evaluation_text(const std::string& word, const std::string& widths) {
  return widths.empty() || widths == word ? word : fmt::format("{} ({})", word, widths);
}

std::string evaluation_widths(const PrecisionRecipe& precision, std::string_view word, Step step,
                              const RunLength& length) {
  if (is_closed_loop(precision) || step < 1 || step > length.steps) return "";
  PrecisionRecipe common = precision;
  common.overrides.clear();
  const PrecisionPlan plan(common, {LayerInfo{}}, length);
  return forward_text(plan.evaluation(parse_evaluation_bits(word), step - 1).common);
}

std::string scheme_note(const PrecisionRecipe& precision) {
  const std::string scheme = named_scheme(precision);
  return scheme.empty() ? "" : ", scheme " + scheme;
}

}  // namespace bitcycle
