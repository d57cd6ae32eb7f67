// The LSTM in float against values computed in double by PyTorch and NumPy.

#include "bitcycle/models/language/lstm_lm.h"

#include "models/language/golden.h"
#include "train/gradient_norm.h"

#include <cmath>

namespace bitcycle {
namespace {

constexpr double kLstmValues = 5e-6, kLstmLoss = 1e-6, kLstmGradients = 2e-6, kLstmNorm = 5e-6;

LstmLm golden_model(bool tied) {
  LstmLm model(LstmOptions{.vocabulary = 30,
                           .layers = 2,
                           .hidden = 10,
                           .embedding = tied ? 0 : 8,
                           .tied = tied,
                           .dropout = 0},
               1);
  const Tensors weights = golden(tied ? "lstm/tied_weights" : "lstm/untied_weights");
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(model->parameters().size(), weights.size());
  for (const auto& item : model->named_parameters()) {
    item.value().copy_(weights.at(pytorch_name(item.key())));
  }
  return model;
}

at::Tensor loss_of(const at::Tensor& scores, const at::Tensor& targets) {
  return at::cross_entropy_loss(scores.flatten(0, 1), targets.flatten());
}

void expect_gradients(LstmLm& model, const Tensors& expected) {
  EXPECT_EQ(model->parameters().size(), expected.size());
  for (const auto& item : model->named_parameters()) {
    expect_close(item.value().grad(), expected.at(pytorch_name(item.key())), kLstmGradients,
                 item.key());
  }
}

void expect_windows(bool tied) {
  const Tensors all = golden(tied ? "lstm/tied_expected" : "lstm/untied_expected");
  LstmLm model = golden_model(tied);
  const auto summary = golden_summary("lstm")[tied ? "tied" : "untied"];
  LstmState state{all.at("h0").to(at::kFloat), all.at("c0").to(at::kFloat)};
  for (const std::size_t i : {0, 1}) {
    const Tensors window = part_of(all, i == 0 ? "window1." : "window2.");
    model->zero_grad();
    const LstmOutput features = model->features(window.at("input"), state);
    const at::Tensor scores = model->scores(features.values);
    const at::Tensor loss = loss_of(scores, window.at("target"));
    loss.backward();
    state = features.state.detach();
    expect_close(features.values, window.at("lstm_output"), kLstmValues, "output");
    expect_close(scores, window.at("logits"), kLstmValues, "scores");
    expect_close(state.hidden, window.at("h_n"), kLstmValues, "hidden");
    expect_close(state.cell, window.at("c_n"), kLstmValues, "cell");
    EXPECT_NEAR(loss.item<double>(), window.at("loss").item<double>(), kLstmLoss);
    EXPECT_NEAR(loss.item<double>(), summary["loss"][i].get<double>(), kLstmLoss);
    const double perplexity = summary["perplexity"][i];
    EXPECT_NEAR(std::exp(loss.item<double>()), perplexity, kLstmLoss * perplexity);
    expect_gradients(model, part_of(window, "grad."));
    EXPECT_NEAR(gradient_norm(gradients_of(*model)), summary["gradient_norm"][i].get<double>(),
                kLstmNorm);
  }
}

TEST(LstmGoldenTest, UntiedWindowsAndGradientsAreAsExpected) {
  expect_windows(false);
}
TEST(LstmGoldenTest, TiedWindowsAndGradientsAreAsExpected) {
  expect_windows(true);
}

// One step of plain SGD with the norm of all gradients clipped; returns that norm.
double descend(LstmLm& model, double lr, double clip) {
  const torch::NoGradGuard no_grad;
  const double norm = gradient_norm(gradients_of(*model));
  const double factor = std::min(1.0, clip / (norm + 1e-6));
  for (at::Tensor& p : model->parameters()) p.sub_(p.grad(), lr * factor);
  return norm;
}

void expect_descent(bool tied) {
  const auto run = golden_summary("lstm")[tied ? "tied" : "untied"]["sgd"];
  const Tensors all = golden(tied ? "lstm/tied_expected" : "lstm/untied_expected");
  LstmLm model = golden_model(tied);
  LstmState state;
  for (int step = 0; step < 6; ++step) {
    if (step % 2 == 0) state = model->zero_state(3);
    const Tensors window = part_of(all, step % 2 == 0 ? "window1." : "window2.");
    model->zero_grad();
    const LstmOutput output = model->forward(window.at("input"), state);
    state = output.state.detach();
    const at::Tensor loss = loss_of(output.values, window.at("target"));
    loss.backward();
    EXPECT_NEAR(loss.item<double>(), run["loss_before_step"][step].get<double>(), kLstmLoss);
    EXPECT_NEAR(descend(model, run["lr"], run["clip_norm"]),
                run["gradient_norm_before_clip"][step].get<double>(), kLstmNorm);
  }
}

TEST(LstmGoldenTest, UntiedDescendsAsExpected) {
  expect_descent(false);
}
TEST(LstmGoldenTest, TiedDescendsAsExpected) {
  expect_descent(true);
}

}  // namespace
}  // namespace bitcycle
