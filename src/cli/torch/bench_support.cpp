#include "cli/torch/bench_support.h"

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/train/caching_allocator.h"

namespace bitcycle::cli {

BenchSubject open_subject(const std::string& model, std::optional<int> batch) {
  use_caching_allocator();
  return bench_subject(model, batch);
}

Backend settle_backend(const std::string& wanted, const std::vector<LayerInfo>& layers,
                       const PrecisionRecipe& precision) {
  const PrecisionPlan plan(precision, layers, {1, 1});
  const BackendChoice choice = choose_backend({.backend = parse_backend(wanted)}, plan);
  for (const std::string& warning : choice.warnings) narrate("warning: " + warning + "\n");
  for (const std::string& notice : choice.notices) narrate("note: " + notice + "\n");
  return choice.backend;
}

}  // namespace bitcycle::cli
