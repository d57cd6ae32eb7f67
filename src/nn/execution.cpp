#include "bitcycle/nn/execution.h"

#include "bitcycle/nn/quant_layer.h"
#include "bitcycle/report/table.h"

namespace bitcycle {
namespace {

std::string words(Execution::Kind kind) {
  switch (kind) {
    case Execution::Kind::not_called:
      return "not called yet";
    case Execution::Kind::in_float:
      return "float";
    case Execution::Kind::simulated:
      return "simulated";
    case Execution::Kind::executed:
      return "integers";
  }
  return "";
}

}  // namespace

std::vector<LayerExecution> executions_of(const torch::nn::Module& model) {
  std::vector<LayerExecution> executions;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const auto* layer = dynamic_cast<const QuantLayer*>(item.value().get());
    if (layer != nullptr) executions.push_back({item.key(), layer->last_call()});
  }
  return executions;
}

std::string execution_table(const std::vector<LayerExecution>& executions) {
  if (executions.empty()) {
    return "no quantized layers: replace torch::nn::Conv2d and Linear by bitcycle's, and register "
           "them as modules\n";
  }
  Table table({"layer", "carried out in", "because it has"});
  for (const auto& [layer, call] : executions) {
    table.add_row({layer, words(call.kind), call.obstacle.empty() ? "-" : call.obstacle});
  }
  return table.text();
}

}  // namespace bitcycle
