#include "bitcycle/config/make_policy.h"

#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_policy.h"

namespace bitcycle {

std::unique_ptr<PrecisionPolicy> make_policy(const PrecisionRecipe& recipe,
                                             std::vector<LayerInfo> layers, RunLength length) {
  if (recipe.progressive) return std::make_unique<ProgressivePolicy>(recipe, layers, length);
  if (recipe.dynamic) return std::make_unique<DynamicPolicy>(recipe, layers, length);
  if (is_automatic(recipe)) return std::make_unique<RangePolicy>(recipe, layers, length);
  return std::make_unique<PrecisionPlan>(recipe, std::move(layers), length);
}

}  // namespace bitcycle
