// The Transformer in float against values computed in double by independent programs.

#include "bitcycle/models/language/transformer_lm.h"

#include "models/language/golden.h"

namespace bitcycle {
namespace {

constexpr double kValues = 1e-5, kLoss = 2e-6, kGradients = 5e-6;

void load(torch::nn::Module& model, const Tensors& weights, const std::string& prefix = "") {
  const torch::NoGradGuard no_grad;
  for (const auto& item : model.named_parameters()) {
    item.value().copy_(weights.at(item.key().substr(prefix.size())));
  }
}

TransformerOptions golden_options() {
  return {.vocabulary = 30,
          .layers = 2,
          .width = 16,
          .inner = 32,
          .heads = 4,
          .dropout = 0,
          .padding = 1};
}

TEST(TransformerGoldenTest, PositionsAreAsExpected) {
  expect_close(sinusoidal_positions(11, 16, 1),
               golden("transformer/expected").at("positions_table"), 1e-7, "positions");
}

// At the places that hold a word.
void expect_close_at_words(const at::Tensor& actual, const Tensors& expected, const char* name) {
  const at::Tensor words = expected.at("input").ne(1).unsqueeze(2);
  expect_close(actual * words, expected.at(name), kValues, name);
}

void expect_text(const char* prefix) {
  TransformerLm model(golden_options(), 1);
  const Tensors weights = golden("transformer/weights");
  EXPECT_EQ(model->parameters().size(), weights.size());
  load(*model, weights);
  const Tensors expected = part_of(golden("transformer/expected"), prefix);
  at::Tensor x = model->embed(expected.at("input"));
  expect_close_at_words(x, expected, "embedded");
  x = model->blocks[0]->forward(x);
  expect_close_at_words(x, expected, "layer0");
  x = model->blocks[1]->forward(x);
  expect_close_at_words(x, expected, "layer1");
  const at::Tensor features = model->features(expected.at("input"));
  expect_close_at_words(features, expected, "normed");
  expect_close_at_words(model->forward(expected.at("input")), expected, "logits");
  const at::Tensor loss = model->loss(features, expected.at("target"));
  EXPECT_NEAR(loss.item<double>(), expected.at("loss").item<double>(), kLoss);
  loss.backward();
  const auto parameters = model->named_parameters();
  for (const auto& [name, gradient] : part_of(expected, "grad.")) {
    expect_close(parameters[name].grad(), gradient, kGradients, name);
  }
}

TEST(TransformerGoldenTest, FullWindowsAndGradientsAreAsExpected) {
  expect_text("full.");
}
TEST(TransformerGoldenTest, PaddedWindowsAndGradientsAreAsExpected) {
  expect_text("padded.");
}

TransformerOptions adaptive_options(bool tied) {
  return {.vocabulary = 30, .width = 16, .tied = tied, .cutoffs = {10, 20}, .padding = 1};
}

void expect_gradients(const torch::nn::Module& module, const Tensors& expected) {
  for (const auto& item : module.named_parameters()) {
    expect_close(item.value().grad(), expected.at("grad." + item.key()), kGradients, item.key());
  }
}

TEST(AdaptiveGoldenTest, SoftmaxOfItsOwnWeightsIsAsExpected) {
  const Tensors expected = golden("transformer/adaptive_softmax");
  AdaptiveSoftmax softmax(adaptive_options(false), AdaptiveInput(nullptr));
  EXPECT_EQ(softmax->parameters().size(), 5U);
  load(*softmax, expected);
  at::Tensor input = expected.at("input").to(at::kFloat).requires_grad_();
  const at::Tensor all = softmax->log_probabilities(input);
  expect_close(all, expected.at("log_prob"), kValues, "log-probabilities");
  EXPECT_TRUE(all.argmax(1).equal(expected.at("prediction")));
  const at::Tensor output = softmax->target_log_probabilities(input, expected.at("target"));
  expect_close(output, expected.at("output"), kValues, "of the targets");
  const at::Tensor loss = output.mean().neg();
  EXPECT_NEAR(loss.item<double>(), expected.at("loss").item<double>(), kLoss);
  loss.backward();
  expect_close(input.grad(), expected.at("grad.input"), kGradients, "input");
  expect_gradients(*softmax, expected);
}

TEST(AdaptiveGoldenTest, InputAndSoftmaxTiedToItAreAsExpected) {
  const Tensors expected = golden("transformer/adaptive_tied");
  AdaptiveInput input(adaptive_options(true));
  AdaptiveSoftmax softmax(adaptive_options(true), input);
  load(*input, expected);
  EXPECT_EQ(softmax->named_parameters().keys(), std::vector<std::string>{"head.class_proj.weight"});
  load(*softmax, expected, "head.");
  at::Tensor hidden = expected.at("hidden").to(at::kFloat).requires_grad_();
  const at::Tensor embedded = input->forward(expected.at("tokens"));
  expect_close(embedded, expected.at("embedded"), kValues, "embedded");
  expect_close(softmax->log_probabilities(hidden), expected.at("tied_log_prob"), kValues,
               "log-probabilities");
  const at::Tensor loss =
      softmax->target_log_probabilities(hidden, expected.at("target")).mean().neg();
  EXPECT_NEAR(loss.item<double>(), expected.at("tied_loss").item<double>(), kLoss);
  const at::Tensor total = loss + (embedded * expected.at("cotangent").to(at::kFloat)).sum();
  EXPECT_NEAR(total.item<double>(), expected.at("total").item<double>(), kValues);
  total.backward();
  expect_close(hidden.grad(), expected.at("grad.hidden"), kGradients, "hidden");
  expect_gradients(*input, expected);
  expect_close(softmax->parameters()[0].grad(), expected.at("grad.class_proj.weight"), kGradients,
               "classes");
}

}  // namespace
}  // namespace bitcycle
