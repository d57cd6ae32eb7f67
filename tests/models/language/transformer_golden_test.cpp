// The Transformer in float against values computed in double by independent programs.

#include "bitcycle/models/language/transformer_lm.h"

#include "models/language/golden.h"
#include "train/gradient_norm.h"

#include <cmath>
#include <numbers>

namespace bitcycle {
namespace {

constexpr double kTransformerValues = 1e-5, kTransformerLoss = 2e-6, kTransformerGradients = 5e-6;

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

// Where no row is padding's, row 1 is that of position 1: sin and cos of the frequencies.
TEST(TransformerGoldenTest, FrequenciesAreAsExpected) {
  const auto frequencies =
      golden_summary("transformer")["sinusoid_frequencies"].get<std::vector<double>>();
  const at::Tensor angles = torch::tensor(frequencies, at::kDouble);
  expect_close(sinusoidal_positions(2, 16, /*padding=*/5)[1], at::cat({angles.sin(), angles.cos()}),
               1e-7, "frequencies");
}

// At the places that hold a word.
void expect_close_at_words(const at::Tensor& actual, const Tensors& expected, const char* name) {
  const at::Tensor words = expected.at("input").ne(1).unsqueeze(2);
  expect_close(actual * words, expected.at(name), kTransformerValues, name);
}

TransformerLm golden_model(const TransformerOptions& options) {
  TransformerLm model(options, 1);
  const Tensors weights = golden("transformer/weights");
  EXPECT_EQ(model->parameters().size(), weights.size());
  load(*model, weights);
  return model;
}

void expect_layers(TransformerLm& model, const Tensors& expected) {
  at::Tensor x = model->embed(expected.at("input"));
  expect_close_at_words(x, expected, "embedded");
  x = model->blocks[0]->forward(x);
  expect_close_at_words(x, expected, "layer0");
  x = model->blocks[1]->forward(x);
  expect_close_at_words(x, expected, "layer1");
  expect_close_at_words(model->features(expected.at("input")), expected, "normed");
  expect_close_at_words(model->forward(expected.at("input")), expected, "logits");
}

// Per token and in all, in nats and in bits.
void expect_loss(double loss, const Tensors& expected, const nlohmann::json& summary) {
  const auto tokens = expected.at("target").ne(1).sum().item<double>();
  EXPECT_EQ(tokens, summary["tokens_counted"].get<double>());
  EXPECT_NEAR(loss, expected.at("loss").item<double>(), kTransformerLoss);
  EXPECT_NEAR(loss, summary["loss_mean_nats"].get<double>(), kTransformerLoss);
  EXPECT_NEAR(loss * tokens, summary["loss_sum_nats"].get<double>(), kTransformerLoss * tokens);
  EXPECT_NEAR(loss / std::numbers::ln2, summary["loss_base2"].get<double>(), 2 * kTransformerLoss);
  const double perplexity = summary["perplexity"];
  EXPECT_NEAR(std::exp(loss), perplexity, kTransformerLoss * perplexity);
}

void expect_gradients(TransformerLm& model, const Tensors& expected,
                      const nlohmann::json& summary) {
  const auto parameters = model->named_parameters();
  for (const auto& [name, gradient] : part_of(expected, "grad.")) {
    expect_close(parameters[name].grad(), gradient, kTransformerGradients, name);
  }
  EXPECT_NEAR(gradient_norm(gradients_of(*model)), summary["gradient_norm"].get<double>(),
              4 * kTransformerGradients);
  // Padding is scored too, as any word is.
  const at::Tensor row = parameters["decoder.embed_tokens.weight"].grad()[1];
  EXPECT_NEAR(row.norm().item<double>(), summary["pad_row_gradient_norm"].get<double>(),
              4 * kTransformerGradients);
}

void expect_text(const std::string& name, const TransformerOptions& options) {
  TransformerLm model = golden_model(options);
  const Tensors expected = part_of(golden("transformer/expected"), name + ".");
  const auto summary = golden_summary("transformer")[name];
  expect_layers(model, expected);
  const at::Tensor features = model->features(expected.at("input"));
  const at::Tensor loss = model->loss(features, expected.at("target"));
  expect_loss(loss.item<double>(), expected, summary);
  loss.backward();
  expect_gradients(model, expected, summary);
}

TEST(TransformerGoldenTest, FullWindowsAndGradientsAreAsExpected) {
  expect_text("full", golden_options());
}
// As recipes have it: every token is a word, and the first is at fairseq's position all the same.
TEST(TransformerGoldenTest, FullWindowsOfAModelWithoutPaddingAreAsExpected) {
  TransformerOptions options = golden_options();
  options.padding = std::nullopt;
  expect_text("full", options);
}
TEST(TransformerGoldenTest, PaddedWindowsAndGradientsAreAsExpected) {
  expect_text("padded", golden_options());
}

TransformerOptions adaptive_options(bool tied) {
  return {.vocabulary = 30, .width = 16, .tied = tied, .cutoffs = {10, 20}, .padding = 1};
}

void expect_gradients(const torch::nn::Module& module, const Tensors& expected) {
  for (const auto& item : module.named_parameters()) {
    expect_close(item.value().grad(), expected.at("grad." + item.key()), kTransformerGradients,
                 item.key());
  }
}

TEST(AdaptiveGoldenTest, SoftmaxOfItsOwnWeightsIsAsExpected) {
  const Tensors expected = golden("transformer/adaptive_softmax");
  AdaptiveSoftmax softmax(adaptive_options(false), AdaptiveInput(nullptr));
  EXPECT_EQ(softmax->parameters().size(), 5U);
  load(*softmax, expected);
  at::Tensor input = expected.at("input").to(at::kFloat).requires_grad_();
  const at::Tensor all = softmax->log_probabilities(input);
  expect_close(all, expected.at("log_prob"), kTransformerValues, "log-probabilities");
  EXPECT_TRUE(all.argmax(1).equal(expected.at("prediction")));
  const at::Tensor output = softmax->target_log_probabilities(input, expected.at("target"));
  expect_close(output, expected.at("output"), kTransformerValues, "of the targets");
  const at::Tensor loss = output.mean().neg();
  EXPECT_NEAR(loss.item<double>(), expected.at("loss").item<double>(), kTransformerLoss);
  const auto summary = golden_summary("transformer")["adaptive_softmax"];
  EXPECT_NEAR(loss.item<double>(), summary["loss"].get<double>(), kTransformerLoss);
  loss.backward();
  expect_close(input.grad(), expected.at("grad.input"), kTransformerGradients, "input");
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
  expect_close(embedded, expected.at("embedded"), kTransformerValues, "embedded");
  expect_close(softmax->log_probabilities(hidden), expected.at("tied_log_prob"), kTransformerValues,
               "log-probabilities");
  const at::Tensor loss =
      softmax->target_log_probabilities(hidden, expected.at("target")).mean().neg();
  EXPECT_NEAR(loss.item<double>(), expected.at("tied_loss").item<double>(), kTransformerLoss);
  const at::Tensor total = loss + (embedded * expected.at("cotangent").to(at::kFloat)).sum();
  EXPECT_NEAR(total.item<double>(), expected.at("total").item<double>(), kTransformerValues);
  total.backward();
  expect_close(hidden.grad(), expected.at("grad.hidden"), kTransformerGradients, "hidden");
  expect_gradients(*input, expected);
  expect_close(softmax->parameters()[0].grad(), expected.at("grad.class_proj.weight"),
               kTransformerGradients, "classes");
}

// The decoder's input: sqrt(width) times the rows, and positions, which the second token has not,
// being padding.
TEST(AdaptiveGoldenTest, InputIsScaledByTheRootOfTheWidth) {
  const Tensors expected = golden("transformer/adaptive_tied");
  TransformerOptions options = adaptive_options(true);
  options.dropout = 0;
  TransformerLm model(options, 1);
  load(*model->adaptive_input, expected);
  const at::Tensor positions = golden("transformer/expected").at("positions_table");
  const at::Tensor places = torch::tensor({2, 1, 3, 4, 2, 3, 4, 5, 2, 3, 4, 5}).view({3, 4});
  expect_close(model->embed(expected.at("tokens")),
               expected.at("embedded_scaled") + at::embedding(positions, places),
               kTransformerValues, "embedded");
}

}  // namespace
}  // namespace bitcycle
