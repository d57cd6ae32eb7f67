#include "bitcycle/models/language/lstm_lm.h"

#include "bitcycle/base/error.h"

#include "models/language/language_testing.h"

#include <cmath>

namespace bitcycle {
namespace {

at::Tensor cross_entropy(const at::Tensor& scores, const at::Tensor& targets) {
  return at::cross_entropy_loss(scores.flatten(0, 1), targets.flatten());
}

LstmOptions small(bool tied) {
  return {.vocabulary = 53, .layers = 2, .hidden = 24, .embedding = tied ? 0 : 17, .tied = tied};
}

TEST(LstmLmTest, HasTheLayersAndParametersThatTheListHas) {
  for (const bool tied : {false, true}) {
    for (const std::int64_t layers : {1, 3}) {
      LstmOptions options = small(tied);
      options.layers = layers;
      LstmLm model(options, 1);
      expect_listed(*model, model_layers(options));
      EXPECT_EQ(count_parameters(*model), parameter_count(options));
    }
  }
}

TEST(LstmLmTest, RefusesSizesThatNoModelHas) {
  EXPECT_THROW(LstmLm(LstmOptions{.vocabulary = 5, .hidden = 0}, 1), Error);
}

TEST(LstmLmTest, StartsFromTheSeedAlone) {
  const auto a = model_state(*LstmLm(small(false), 1)), b = model_state(*LstmLm(small(false), 1));
  const auto c = model_state(*LstmLm(small(false), 2));
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
  for (const char* name : {"encoder.weight", "rnn.hh_l1.weight", "rnn.ih_l0.bias"}) {
    EXPECT_FALSE(a.at(name).equal(c.at(name))) << name;
  }
  EXPECT_NEAR(a.at("encoder.weight").abs().max().item<double>(), 0.1, 1e-3);
  EXPECT_NEAR(a.at("rnn.hh_l1.weight").abs().max().item<double>(), 1 / std::sqrt(24.0), 1e-3);
  EXPECT_EQ(a.at("decoder.bias").abs().max().item<double>(), 0);
}

TEST(LstmLmTest, WithoutADecoderGuessesUniformly) {
  LstmLm model(small(false), 1);
  const torch::NoGradGuard no_grad;
  model->decoder->weight.zero_();
  const at::Tensor tokens = torch::randint(0, 53, {7, 3}, at::kLong);
  const auto features = model->features(tokens, model->zero_state(3));
  EXPECT_NEAR(model->loss(features.values, tokens).item<double>(), std::log(53.0), 1e-6);
}

Traces train(Executor executor, bool tied, int bits) {
  torch::manual_seed(3);
  LstmLm model(small(tied), 1);
  set_executor(*model, executor);
  LstmState state = model->zero_state(4);
  Traces traces;
  for (Step step = 0; step < 2; ++step) {
    set_step(*model, bits, bits == 0 ? 0 : 8, step);
    const at::Tensor tokens = torch::randint(0, 53, {6, 4}, at::kLong);
    const LstmOutput output = model->forward(tokens.narrow(0, 0, 5), state);
    state = output.state.detach();
    traces["scores " + std::to_string(step)] = output.values.detach();
    model->zero_grad();
    cross_entropy(output.values, tokens.narrow(0, 1, 5)).backward();
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : model->parameters()) parameter.sub_(parameter.grad(), 0.5);
  }
  traces["hidden"] = state.hidden;
  traces["cell"] = state.cell;
  add_state(traces, *model);
  return traces;
}

TEST(LstmLmTest, IsOneSchemeExecutedAndSimulated) {
  for (const bool tied : {false, true}) {
    for (const int bits : {3, 8}) {
      expect_same(train(Executor::integer, tied, bits), train(Executor::oracle, tied, bits));
    }
  }
}

TEST(LstmLmTest, DoesNotDependOnTheNumberOfThreads) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    const auto run = [&] { return train(executor, false, 6); };
    const Traces expected = on_threads(1, run);
    for (const int threads : {2, 3}) expect_same(on_threads(threads, run), expected);
  }
}

TEST(LstmLmTest, DropsOutInTrainingOnly) {
  LstmLm model(small(false), 1);
  const at::Tensor tokens = torch::randint(0, 53, {5, 4}, at::kLong);
  const auto scores = [&](Step step) {
    set_step(*model, 0, 0, step);
    return model->forward(tokens, model->zero_state(4)).values;
  };
  EXPECT_TRUE(scores(1).equal(scores(1)));
  EXPECT_FALSE(scores(1).equal(scores(2)));
  model->eval();
  EXPECT_TRUE(scores(1).equal(scores(2)));
}

// Two hundred steps on a text that repeats itself.
TEST(LstmLmTest, LearnsAtFourBits) {
  LstmOptions options = small(true);
  options.dropout = 0;
  LstmLm model(options, 1);
  set_executor(*model, Executor::integer);
  const at::Tensor text = at::arange(48).remainder(6).view({12, 4});
  double loss = 0;
  for (Step step = 0; step < 200; ++step) {
    set_step(*model, 4, 8, step);
    model->zero_grad();
    const auto output = model->forward(text.narrow(0, 0, 11), model->zero_state(4));
    const at::Tensor error = cross_entropy(output.values, text.narrow(0, 1, 11));
    error.backward();
    loss = error.item<double>();
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : model->parameters()) parameter.sub_(parameter.grad(), 5.0);
  }
  EXPECT_LT(loss, 0.5);  // guessing among the six words would be 1.79
}

}  // namespace
}  // namespace bitcycle
