#include "bitcycle/quant/scheme.h"

#include "bitcycle/base/error.h"
#include "bitcycle/quant/schemes.h"

namespace bitcycle {

namespace {

// Gradients may be left out, and the quantizers that few schemes have.
bool complete(const Scheme& scheme) {
  return scheme.weight.quantize && scheme.activation.quantize && scheme.error;
}

}  // namespace

std::string obstacle(const Scheme& scheme, Executor executor) {
  if (!complete(scheme)) {
    return "the scheme \"" + scheme.name +
           "\" is incomplete: expected weight.quantize, activation.quantize and error";
  }
  const bool kernels = scheme.kernels != Scheme::Kernels::none;
  if (kernels == (executor != Executor::simulate)) return "";
  return "the scheme \"" + scheme.name + "\" " +
         (kernels ? "is defined by its integer kernels: expected the executor integer or oracle, "
                    "found simulate"
                  : "has no integer kernels: expected the executor simulate");
}

void set_scheme(torch::nn::Module& model, const Scheme& scheme, Executor executor) {
  const std::string reason = obstacle(scheme, executor);
  if (!reason.empty()) throw Error(ErrorCode::usage, reason);
  const auto shared = std::make_shared<const Scheme>(scheme);
  const auto tell = [&](torch::nn::Module& module) {
    if (auto* user = dynamic_cast<SchemeUser*>(&module)) user->use_scheme(shared, executor);
  };
  tell(model);
  for (const auto& module : model.modules(/*include_self=*/false)) tell(*module);
}

void set_executor(torch::nn::Module& model, Executor executor) {
  set_scheme(model, executor == Executor::simulate ? sbm_scheme() : integer_scheme(), executor);
}

}  // namespace bitcycle
