// A convolutional network of one's own that trains in integers: it learns on which side of a
// picture the bright square is, at 3 to 8 bits that cycle, by the integer kernels throughout.
// Run:     ./own_network
// Prints:  who carries out each layer, then the accuracy, which should be above 95 %.

#include <iostream>

#include <bitcycle/bitcycle.h>
#include <torch/optim/sgd.h>

using bitcycle::Activation, bitcycle::ConvUnit, bitcycle::ConvUnitOptions;

torch::nn::Conv2dOptions three_by_three(int in, int out, int stride) {
  return torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false);
}

// A unit is activation(norm(conv(x)) + residual), so a residual block is two of them.
struct Net : torch::nn::Module {
  ConvUnit stem{register_module("stem", ConvUnit(unit(1, 16, 2)))};
  ConvUnit first{register_module("first", ConvUnit(unit(16, 16, 1)))};
  ConvUnit second{register_module("second", ConvUnit(unit(16, 16, 1)))};
  bitcycle::QuantLinear head{
      register_module("head", bitcycle::QuantLinear(torch::nn::LinearOptions(16 * 2, 2)))};

  static ConvUnitOptions unit(int in, int out, int stride) {
    return {three_by_three(in, out, stride), Activation::relu};
  }
  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor x = stem->forward(pictures);
    const at::Tensor y = second->forward(first->forward(x), x);
    return head->forward(torch::adaptive_avg_pool2d(y, {1, 2}).flatten(1));
  }
};

// Noise with a bright 4 x 4 square in the left (0) or right (1) half.
std::pair<at::Tensor, at::Tensor> batch(int size) {
  at::Tensor pictures = torch::rand({size, 1, 16, 16}), sides = torch::randint(2, {size});
  for (int i = 0; i < size; ++i) {
    const int x = sides[i].item<int>() * 8 + i % 4, y = i % 12;
    pictures[i][0].slice(0, y, y + 4).slice(1, x, x + 4) += 1;
  }
  return {pictures, sides.to(torch::kLong)};
}

int main() {
  torch::manual_seed(1);
  Net net;
  bitcycle::set_executor(net, bitcycle::Executor::integer);

  const int steps = 60;
  bitcycle::PrecisionRecipe precision;
  precision.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 4};
  bitcycle::PrecisionPlan plan(precision, bitcycle::layers_of(net), {steps, steps});
  bitcycle::PrecisionController controller(net, plan.layers(), /*seed=*/1);
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0; step < steps; ++step) {
    controller.apply(plan.decide(step), step);
    const auto [pictures, sides] = batch(32);
    optimizer.zero_grad();
    at::cross_entropy_loss(net.forward(pictures), sides).backward();
    optimizer.step();
  }
  std::cout << bitcycle::execution_table(bitcycle::executions_of(net));

  controller.apply(plan.upper(), steps - 1);
  net.eval();
  const auto [pictures, sides] = batch(256);
  const auto right = net.forward(pictures).argmax(1).eq(sides).sum().item<int>();
  std::cout << "accuracy " << 100.0 * right / 256 << " %\n";
  return right > 243 ? 0 : 1;
}
