// A policy, a gate and a scheme of one's own, in a LibTorch model of one's own; docs/cpp.md goes
// through it part by part.
// Run:     ./own_precision
// Prints:  the step at which the policy raised the precision, how often the gate chose fewer bits,
//          and the accuracy, which should be above 95 %.

#include <cmath>
#include <iostream>

#include <bitcycle/bitcycle.h>
#include <torch/optim/adam.h>

namespace {

using bitcycle::LayerBits;

// 4 bits until the loss has fallen below a bound, then 8.
class RaiseOnce : public bitcycle::PrecisionPolicy {
 public:
  RaiseOnce(std::vector<bitcycle::LayerInfo> layers, double bound)
      : layers_(std::move(layers)), bound_(bound) {}

  const std::vector<bitcycle::LayerInfo>& layers() const override { return layers_; }
  bitcycle::StepBits decide(bitcycle::Step) const override { return all(raised_ ? 8 : 4); }
  bitcycle::StepBits evaluation(const bitcycle::EvaluationBits&, bitcycle::Step) const override {
    return all(8);
  }
  std::vector<bitcycle::LayerWidths> widths() const override {
    return std::vector<bitcycle::LayerWidths>(layers_.size(), {{4, 8}, {4, 8}, {8, 8}});
  }
  std::optional<bitcycle::StageChange> observe(bitcycle::Step step,
                                               const bitcycle::MetricSums& metrics) override {
    const auto& loss = metrics.entries().front();
    if (raised_ || loss.sum / loss.count >= bound_) return {};
    raised_ = true;
    return bitcycle::StageChange{step + 1, "4/8", "8/8", "the loss fell below the bound"};
  }

 private:
  bitcycle::StepBits all(int bits) const {
    const std::vector<LayerBits> layers(layers_.size(), {bits, bits, 8});
    return {layers, layers, layers.front()};
  }

  std::vector<bitcycle::LayerInfo> layers_;
  double bound_;
  bool raised_ = false;
};

// Batches whose hidden values are small go through the last layer at 3 bits.
struct Circle : torch::nn::Module {
  bitcycle::QuantLinear hidden{
      register_module("hidden", bitcycle::QuantLinear(torch::nn::LinearOptions(2, 32)))};
  bitcycle::QuantLinear output{
      register_module("output", bitcycle::QuantLinear(torch::nn::LinearOptions(32, 2)))};

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor values = hidden->forward(x).relu();
    if (values.max().item<float>() < 1.5f) output->choose({3, 3, 8});
    return output->forward(values);
  }
};

// Powers of two for the weights, everything else as in the papers' scheme.
bitcycle::Scheme powers_of_two() {
  bitcycle::Scheme scheme = bitcycle::sbm_scheme();
  scheme.name = "powers-of-two";
  scheme.weight.quantize = [](const at::Tensor& weight, int bits) {
    const at::Tensor size = weight.abs();
    const double largest = std::ceil(std::log2(size.max().item<double>()));
    const double smallest = largest - std::pow(2.0, bits - 1) + 2;
    return weight.sign() * at::pow(2.0, size.log2().round().clamp(smallest, largest));
  };
  return scheme;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const at::Tensor points = torch::rand({512, 2}) * 2 - 1;
  const at::Tensor inside = points.square().sum(1).lt(0.6).to(torch::kLong);

  Circle model;
  bitcycle::set_scheme(model, powers_of_two());
  RaiseOnce policy(bitcycle::layers_of(model), /*bound=*/0.3);
  bitcycle::PrecisionController controller(model, policy.layers(), /*seed=*/1);
  torch::optim::Adam optimizer(model.parameters(), 0.02);
  int gated = 0;
  for (int step = 0; step < 300; ++step) {
    const bitcycle::StepBits decided = policy.decide(step);
    controller.apply(decided, step);
    optimizer.zero_grad();
    const at::Tensor loss = at::cross_entropy_loss(model.forward(points), inside);
    loss.backward();
    optimizer.step();
    gated += controller.executed(decided).layers[1].weight == 3;
    const auto change = policy.observe(step, {{"loss", loss.item<double>(), 1}});
    if (change) std::cout << "step " << change->step << ": " << change->reason << "\n";
  }

  controller.apply(policy.upper(), 299);
  model.eval();
  const auto right = model.forward(points).argmax(1).eq(inside).sum().item<int>();
  std::cout << "3 bits in " << gated << " of 300 steps\n"
            << "accuracy " << 100.0 * right / 512 << " %\n";
  return right > 486 && gated > 0 && gated < 300 ? 0 : 1;
}
