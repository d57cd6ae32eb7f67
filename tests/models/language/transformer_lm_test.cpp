#include "bitcycle/models/language/transformer_lm.h"

#include "bitcycle/base/error.h"

#include "models/language/language_testing.h"

#include <cmath>

namespace bitcycle {
namespace {

enum class Form { tied, untied, adaptive, adaptive_untied };
constexpr Form kForms[] = {Form::tied, Form::untied, Form::adaptive, Form::adaptive_untied};

TransformerOptions small_options(Form form) {
  TransformerOptions options{.vocabulary = 61, .layers = 2, .width = 32, .inner = 48, .heads = 4};
  options.attention_dropout = options.activation_dropout = options.softmax_dropout = 0.1;
  options.tied = form == Form::tied || form == Form::adaptive;
  options.final_norm = options.tied;
  if (form == Form::adaptive || form == Form::adaptive_untied) options.cutoffs = {17, 40};
  return options;
}

TEST(TransformerLmTest, HasTheLayersAndParametersThatTheListHas) {
  for (const Form form : kForms) {
    const TransformerOptions options = small_options(form);
    TransformerLm model(options, 1);
    expect_listed(*model, model_layers(options, 64));
    EXPECT_EQ(count_parameters(*model), parameter_count(options));
  }
}

TEST(TransformerLmTest, RefusesSizesThatNoModelHas) {
  EXPECT_THROW(TransformerLm(TransformerOptions{.vocabulary = 5, .heads = 3}, 1), Error);
}

TEST(TransformerLmTest, StartsFromTheSeedAloneWithTheDocumentedDeviations) {
  const TransformerOptions options{.vocabulary = 400, .layers = 1, .width = 64, .inner = 128};
  const auto a = model_state(*TransformerLm(options, 1)),
             b = model_state(*TransformerLm(options, 1));
  const auto c = model_state(*TransformerLm(options, 2));
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
  const std::string layer = "decoder.layers.0.";
  const std::string q = layer + "self_attn.q_proj.weight",
                    out = layer + "self_attn.out_proj.weight";
  EXPECT_FALSE(a.at(q).equal(c.at(q)));
  const auto largest = [&](const std::string& name) {
    return a.at(name).abs().max().item<double>();
  };
  EXPECT_NEAR(a.at("decoder.embed_tokens.weight").std().item<double>(), 1 / 8.0, 2e-3);
  EXPECT_NEAR(largest(q), std::sqrt(0.5) * std::sqrt(6.0 / 128), 1e-3);
  EXPECT_NEAR(largest(out), std::sqrt(6.0 / 128), 1e-3);
  EXPECT_EQ(largest(layer + "self_attn.out_proj.bias"), 0);
  EXPECT_NEAR(largest(layer + "fc1.weight"), 1 / 8.0, 1e-3);
  EXPECT_NEAR(largest(layer + "fc2.weight"), 1 / std::sqrt(128.0), 1e-3);
  EXPECT_GT(largest(layer + "self_attn.k_proj.bias"), 0.05);
  EXPECT_EQ(largest(layer + "final_layer_norm.weight"), 1);
}

TEST(TransformerLmTest, WithoutAnOutputLayerGuessesUniformly) {
  TransformerLm model(small_options(Form::untied), 1);
  const torch::NoGradGuard no_grad;
  model->output->weight.zero_();
  const at::Tensor tokens = torch::randint(0, 61, {3, 7}, at::kLong);
  EXPECT_NEAR(model->loss(model->features(tokens), tokens).item<double>(), std::log(61.0), 1e-6);
}

TEST(TransformerLmTest, SeesNoTokenThatIsStillToCome) {
  TransformerLm model(small_options(Form::tied), 1);
  model->eval();
  const torch::NoGradGuard no_grad;
  at::Tensor tokens = torch::randint(0, 60, {2, 9}, at::kLong);
  const at::Tensor before = model->forward(tokens);
  tokens.select(1, 6).fill_(60);
  const at::Tensor after = model->forward(tokens);
  EXPECT_TRUE(before.narrow(1, 0, 6).equal(after.narrow(1, 0, 6)));
  EXPECT_FALSE(before.narrow(1, 6, 3).equal(after.narrow(1, 6, 3)));
}

TEST(TransformerLmTest, LossIsTheMeanOfTheTargetsScores) {
  for (const Form form : kForms) {
    TransformerLm model(small_options(form), 1);
    model->eval();
    const at::Tensor tokens = at::arange(60).view({4, 15});
    const at::Tensor chances = model->forward(tokens).log_softmax(-1);
    const at::Tensor expected = chances.gather(2, tokens.unsqueeze(2)).mean().neg();
    const at::Tensor loss = model->loss(model->features(tokens), tokens);
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
  }
}

Traces train(Executor executor, Form form, int bits) {
  torch::manual_seed(3);
  TransformerLm model(small_options(form), 1);
  set_executor(*model, executor);
  Traces traces;
  for (Step step = 0; step < 2; ++step) {
    set_step(*model, bits, 8, step);
    const at::Tensor tokens = torch::randint(0, 61, {3, 13}, at::kLong);
    const at::Tensor features = model->features(tokens.narrow(1, 0, 12));
    const at::Tensor loss = model->loss(features, tokens.narrow(1, 1, 12));
    traces["features " + std::to_string(step)] = features.detach();
    traces["loss " + std::to_string(step)] = loss.detach();
    model->zero_grad();
    loss.backward();
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : model->parameters()) parameter.sub_(parameter.grad(), 0.05);
  }
  add_state(traces, *model);
  return traces;
}

TEST(TransformerLmTest, IsOneSchemeExecutedAndSimulated) {
  for (const Form form : kForms) {
    for (const int bits : {3, 8}) {
      expect_same(train(Executor::integer, form, bits), train(Executor::oracle, form, bits));
    }
  }
}

TEST(TransformerLmTest, DoesNotDependOnTheNumberOfThreads) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    for (const Form form : {Form::tied, Form::adaptive}) {
      const auto run = [&] { return train(executor, form, 6); };
      const Traces expected = on_threads(1, run);
      for (const int threads : {2, 3}) expect_same(on_threads(threads, run), expected);
    }
  }
}

}  // namespace
}  // namespace bitcycle
