// A task and a policy of one's own, in a whole run: the trainer logs, evaluates, checkpoints and
// resumes them to the byte, as it does those that recipes name.
// Run:     ./own_task RUN_DIRECTORY
// Prints:  the accuracy, which should be above 90 %.

#include <iostream>

#include <bitcycle/bitcycle.h>

namespace {

using bitcycle::Score, bitcycle::Split, bitcycle::TaskLoss;

struct Circle : torch::nn::Module {
  bitcycle::QuantLinear hidden{
      register_module("hidden", bitcycle::QuantLinear(torch::nn::LinearOptions(2, 32)))};
  bitcycle::QuantLinear output{
      register_module("output", bitcycle::QuantLinear(torch::nn::LinearOptions(32, 2)))};

  at::Tensor forward(const at::Tensor& x) { return output->forward(hidden->forward(x).relu()); }
};

// Which points lie inside a circle? Every batch is a function of its number, so that a run that is
// resumed goes on with the batches that it would have had.
class CircleTask : public bitcycle::Task {
 public:
  static constexpr int kBatch = 64, kBatches = 8;

  const bitcycle::TaskMetrics& metrics() const override { return metrics_; }
  torch::nn::Module& model() override { return model_; }
  std::vector<bitcycle::LayerInfo> layers() const override { return bitcycle::layers_of(model_); }
  std::int64_t batches_per_epoch() const override { return kBatches; }
  void require_trainable() override {}
  std::string data_fingerprint() override { return "circle"; }

  void start(std::int64_t first_batch) override { next_ = first_batch; }
  TaskLoss next_loss() override {
    const at::Tensor x = points(next_++ % kBatches), y = inside(x), logits = model_.forward(x);
    const at::Tensor loss = at::cross_entropy_loss(logits, y);
    return {loss, {{"loss", loss.item<double>() * kBatch, kBatch}, right(logits, y)}, kBatch};
  }
  std::string first_nonfinite_layer() override { return ""; }
  Score evaluate(Split split) override {
    const at::NoGradGuard no_grad;
    const at::Tensor x = points(split == Split::test ? kBatches : kBatches + 1), y = inside(x);
    model_.eval();
    const at::Tensor logits = model_.forward(x);
    model_.train();
    const double loss = at::cross_entropy_loss(logits, y).item<double>();
    return {metrics_.measure({{"loss", loss, 1}, right(logits, y)}), kBatch, "points"};
  }

 private:
  static at::Tensor points(std::int64_t batch) {
    torch::manual_seed(static_cast<std::uint64_t>(batch));
    return torch::rand({kBatch, 2}) * 2 - 1;
  }
  static at::Tensor inside(const at::Tensor& x) {
    return x.square().sum(1).lt(0.6).to(torch::kLong);
  }
  static bitcycle::MetricSum right(const at::Tensor& logits, const at::Tensor& y) {
    return {"accuracy", logits.argmax(1).eq(y).sum().item<double>(), kBatch};
  }

  bitcycle::TaskMetrics metrics_{
      {"accuracy", bitcycle::MetricForm::percent, bitcycle::Better::higher}, {"loss"}};
  Circle model_;
  std::int64_t next_ = 0;
};

// 4 bits in the first half of the run, then 8; it needs no state, for the step tells all.
class Halves : public bitcycle::PrecisionPolicy {
 public:
  Halves(std::vector<bitcycle::LayerInfo> layers, bitcycle::RunLength length)
      : layers_(std::move(layers)), length_(length) {}

  const std::vector<bitcycle::LayerInfo>& layers() const override { return layers_; }
  bitcycle::StepBits decide(bitcycle::Step step) const override {
    return all(2 * step < length_.steps ? 4 : 8);
  }
  bitcycle::StepBits evaluation(const bitcycle::EvaluationBits&, bitcycle::Step) const override {
    return all(8);
  }
  std::vector<bitcycle::LayerWidths> widths() const override {
    return std::vector<bitcycle::LayerWidths>(layers_.size(), {{4, 8}, {4, 8}, {8, 8}});
  }

 private:
  bitcycle::StepBits all(int bits) const {
    const std::vector<bitcycle::LayerBits> layers(layers_.size(), {bits, bits, 8});
    return {layers, layers, layers.front()};
  }
  std::vector<bitcycle::LayerInfo> layers_;
  bitcycle::RunLength length_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: own_task RUN_DIRECTORY\n";
    return 2;
  }
  bitcycle::Recipe recipe;
  recipe.steps = 300;
  recipe.model.name = recipe.data.dataset = "circle";
  recipe.optimizer.lr = 0.1;
  bitcycle::RunParts parts;
  parts.task = [](const auto&...) {
    torch::manual_seed(1);
    return std::make_unique<CircleTask>();
  };
  parts.policy = [](const auto&, std::vector<bitcycle::LayerInfo> layers,
                    bitcycle::RunLength length) {
    return std::make_unique<Halves>(std::move(layers), length);
  };
  double accuracy = 0;
  struct Watcher : bitcycle::EventSink {
    explicit Watcher(double& value) : accuracy(value) {}
    std::string name() const override { return "watcher"; }
    void finish(const bitcycle::RunFinish& run) override {
      accuracy = run.test_of_best.value("accuracy");
    }
    double& accuracy;
  };
  bitcycle::Trainer trainer(recipe, argv[1], {std::make_shared<Watcher>(accuracy)}, parts);
  trainer.resume();
  trainer.run(bitcycle::StopSignal());
  std::cout << "accuracy " << accuracy << " %\n";
  return accuracy > 90 ? 0 : 1;
}
