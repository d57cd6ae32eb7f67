#include "config/fields.h"

#include <algorithm>

namespace bitcycle {

Words words(DataRecipe::Augment) {
  return {"standard", "none"};
}
Words words(OptimizerRecipe::Name) {
  return {"sgd", "adam", "adamw", "fairseq_adam", "bert_adam", "nesterov", "fairseq_nag"};
}
Words words(OptimizerRecipe::Decay) {
  return {"all", "weights"};
}
Words words(LearningRateRecipe::Name) {
  return {"constant", "piecewise",      "linear",       "cosine",
          "sgdr",     "linear_to_zero", "inverse_sqrt", "plateau"};
}
Words words(LearningRateRecipe::Warmup) {
  return {"constant", "linear"};
}
Words words(LearningRateRecipe::Origin) {
  return {"start", "warmup"};
}
Words words(SchemeName) {
  return {"auto", "sbm", "integer", "dorefa", "sbm-banner", "wageubn-lite", "wageubn-full"};
}
Words words(IndicatorRecipe::Loss) {
  return {"cross_entropy", "perplexity", "total"};
}
Words words(DynamicRecipe::Band) {
  return {"soft", "flat"};
}
Words words(DynamicRecipe::Form) {
  return {"chosen", "all_candidates"};
}
Words words(PrecisionRecipe::Backend) {
  return {"simulate", "integer", "auto"};
}
Words words(PrecisionRecipe::Per) {
  return {"step", "epoch"};
}
Words words(RangeStart) {
  return {"first_batch", "zero"};
}
Words words(EvaluationRecipe::BestOn) {
  return {"validation", "test"};
}
Words words(CycleLength) {
  Words words;
  for (auto rule : {CycleLength::exact, CycleLength::floor, CycleLength::floor_plus_one}) {
    words.emplace_back(name(rule));
  }
  return words;
}

const std::vector<NamedOptions>& named_options() {
  static const std::vector<NamedOptions> lists = {
      {"cifar", {{3, 6}, {4, 6}, {4, 8}, {6, 8}, {6, 12}}},
      {"imagenet", {{3, 6}, {4, 8}, {6, 12}, {8, 16}}}};
  return lists;
}

ScheduleTraits traits_of(const ScheduleSpec& spec) {
  const std::vector<std::string> names = schedule_names();
  if (std::ranges::find(names, spec.name) == names.end()) return {false, true, true, true};
  const bool fixed = spec.name == "static";
  return {.fixed = fixed,
          .cyclic = !fixed && spec.name != "progressive",
          .rex = spec.name.starts_with('R'),
          .exponential = spec.name.starts_with('E')};
}

}  // namespace bitcycle
