// Dynamic precision in a LibTorch model of one's own: two quantized layers learn a circle.
// Run:     ./own_model
// Prints:  the accuracy after 300 steps, which should be above 95 %.

#include <iostream>

#include <bitcycle/bitcycle.h>
#include <torch/optim/adam.h>

struct Circle : torch::nn::Module {
  bitcycle::QuantLinear hidden{
      register_module("hidden", bitcycle::QuantLinear(torch::nn::LinearOptions(2, 32)))};
  bitcycle::QuantLinear output{
      register_module("output", bitcycle::QuantLinear(torch::nn::LinearOptions(32, 2)))};

  at::Tensor forward(const at::Tensor& x) { return output->forward(hidden->forward(x).relu()); }
};

int main() {
  torch::manual_seed(1);
  const at::Tensor points = torch::rand({512, 2}) * 2 - 1;
  const at::Tensor inside = points.square().sum(1).lt(0.6).to(torch::kLong);

  Circle model;
  const int steps = 300;
  bitcycle::PrecisionRecipe precision;
  precision.forward = {.name = "CR", .min = 4, .max = 8, .cycles = 4};
  bitcycle::PrecisionPlan plan(precision, bitcycle::layers_of(model), {steps, steps});
  bitcycle::PrecisionController controller(model, plan.layers(), /*seed=*/1);

  torch::optim::Adam optimizer(model.parameters(), 0.02);
  for (int step = 0; step < steps; ++step) {
    controller.apply(plan.decide(step), step);
    optimizer.zero_grad();
    at::cross_entropy_loss(model.forward(points), inside).backward();
    optimizer.step();
  }

  controller.apply(plan.upper(), steps - 1);
  model.eval();
  const auto right = model.forward(points).argmax(1).eq(inside).sum().item<int>();
  std::cout << "accuracy " << 100.0 * right / 512 << " %\n";
  return right > 486 ? 0 : 1;
}
