#include "cli/torch/bench_support.h"

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/report/narration.h"

#include <ATen/Parallel.h>
#include <omp.h>

namespace bitcycle::cli {

void use_threads(int threads) {
  at::set_num_threads(threads > 0 ? threads : omp_get_max_threads());
}

Backend settle_backend(const std::string& wanted, const Network& network,
                       const PrecisionRecipe& precision) {
  const PrecisionPlan plan(precision, layers_of(network), {1, 1});
  const BackendChoice choice = choose_backend({.backend = parse_backend(wanted)}, plan);
  for (const std::string& notice : choice.notices) narrate("note: " + notice + "\n");
  return choice.backend;
}

}  // namespace bitcycle::cli
