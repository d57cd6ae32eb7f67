#include "bitcycle/models/step_keys.h"

namespace bitcycle {

StepKeys::StepKeys(torch::nn::Module& model, std::uint64_t seed) {
  const RandomKey key = RandomKey(seed).derive("dropout");
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    auto* module = dynamic_cast<StepKeyed*>(item.value().get());
    if (module != nullptr) targets_.push_back({module, key.derive(item.key())});
  }
}

void StepKeys::apply(Step step) {
  for (Target& target : targets_) {
    target.module->set_step_key(target.key.derive(static_cast<std::uint64_t>(step)));
  }
}

}  // namespace bitcycle
