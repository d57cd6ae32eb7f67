// Two time steps of a quantized LSTM, forward and backward, computed by hand with the quantizers:
// one range for the window's input-to-hidden product, one per time step hidden-to-hidden.

#include "bitcycle/models/language/lstm_lm.h"
#include "bitcycle/quant/quantizer.h"

#include "models/language/language_testing.h"

namespace bitcycle {
namespace {

constexpr int kBits = 5, kErrorBits = 6;
constexpr std::int64_t kHidden = 9;

at::Tensor rounded(const at::Tensor& x) {
  return quantize_tensor(x.contiguous(), tensor_range(x.contiguous()), kBits);
}

NoiseKey noise_of(const char* layer, std::uint64_t call) {
  const RandomKey key = RandomKey(9).derive(layer).derive(0);
  return noise_key(call == 0 ? key : key.derive("call").derive(call));
}

at::Tensor rounded_error(const at::Tensor& x, const char* layer, std::uint64_t call) {
  return quantize_error(x.contiguous(), kErrorBits, noise_of(layer, call));
}

// A time step with all that its gradient needs.
struct HandStep {
  at::Tensor hq, c, i, f, g, o, next_c, h;

  HandStep(const at::Tensor& input_gates, const at::Tensor& h_before, const at::Tensor& c_before,
           const at::Tensor& wq, const at::Tensor& bias)
      : hq(rounded(h_before)), c(c_before) {
    const auto gates = (input_gates + (at::mm(hq, wq.t()) + bias)).chunk(4, 1);
    i = gates[0].sigmoid();
    f = gates[1].sigmoid();
    g = gates[2].tanh();
    o = gates[3].sigmoid();
    next_c = f * c + i * g;
    h = o * next_c.tanh();
  }

  // Of the gates, given those of h and of the cell after it.
  at::Tensor gate_errors(const at::Tensor& dh, const at::Tensor& dc_after) const {
    const at::Tensor dc = cell_error(dh, dc_after), t = next_c.tanh();
    return at::cat(
        {dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)},
        1);
  }
  at::Tensor cell_error(const at::Tensor& dh, const at::Tensor& dc_after) const {
    const at::Tensor t = next_c.tanh();
    return dc_after + dh * o * (1 - t * t);
  }
};

void expect_near(const at::Tensor& actual, const at::Tensor& expected, const char* what) {
  EXPECT_LT((actual.detach() - expected).abs().max().item<double>(), 2e-6) << what;
}

TEST(LstmByHandTest, TwoQuantizedTimeStepsAreAsComputedByHand) {
  LstmLm model(LstmOptions{.vocabulary = 20, .layers = 1, .hidden = kHidden, .dropout = 0}, 4);
  set_step(*model, kBits, kErrorBits, 0);
  torch::manual_seed(2);
  const at::Tensor tokens = torch::randint(0, 20, {2, 3}, at::kLong);
  const LstmState start{torch::randn({1, 3, kHidden}), torch::randn({1, 3, kHidden})};
  const at::Tensor error = torch::randn({2, 3, 20});
  const LstmOutput output = model->forward(tokens, start);
  output.values.backward(error);

  const torch::NoGradGuard no_grad;
  const auto p = model->named_parameters();
  const at::Tensor w_ih = quantize_weight(p["rnn.ih_l0.weight"], kBits);
  const at::Tensor w_hh = quantize_weight(p["rnn.hh_l0.weight"], kBits);
  const at::Tensor w_out = quantize_weight(p["decoder.weight"], kBits);
  const at::Tensor xq = rounded(p["encoder.weight"].index({tokens}));
  const at::Tensor gates = at::matmul(xq, w_ih.t()) + p["rnn.ih_l0.bias"];
  const HandStep first(gates[0], start.hidden[0], start.cell[0], w_hh, p["rnn.hh_l0.bias"]);
  const HandStep second(gates[1], first.h, first.next_c, w_hh, p["rnn.hh_l0.bias"]);
  const at::Tensor yq = rounded(at::stack({first.h, second.h}));
  expect_near(output.values, at::matmul(yq, w_out.t()) + p["decoder.bias"], "scores");
  expect_near(output.state.hidden[0], second.h, "hidden");
  expect_near(output.state.cell[0], second.next_c, "cell");

  const at::Tensor eq = rounded_error(error, "decoder", 0);
  expect_near(p["decoder.weight"].grad(), at::mm(eq.flatten(0, 1).t(), yq.flatten(0, 1)),
              "decoder");
  const at::Tensor dy = at::matmul(eq, w_out), none = at::zeros({3, kHidden});
  const at::Tensor d1 = second.gate_errors(dy[1], none);
  const at::Tensor d1q = rounded_error(d1, "rnn.hh_l0", 1);
  const at::Tensor dh0 = dy[0] + at::mm(d1q, w_hh);
  const at::Tensor d0 = first.gate_errors(dh0, second.cell_error(dy[1], none) * second.f);
  const at::Tensor d0q = rounded_error(d0, "rnn.hh_l0", 0);
  expect_near(p["rnn.hh_l0.weight"].grad(), at::mm(d0q.t(), first.hq) + at::mm(d1q.t(), second.hq),
              "hidden to hidden");
  expect_near(p["rnn.hh_l0.bias"].grad(), d0.sum(0) + d1.sum(0), "bias");
  const at::Tensor dq = rounded_error(at::stack({d0, d1}), "rnn.ih_l0", 0).flatten(0, 1);
  expect_near(p["rnn.ih_l0.weight"].grad(), at::mm(dq.t(), xq.flatten(0, 1)), "input to hidden");
  const at::Tensor dx = at::zeros({20, kHidden}).index_add(0, tokens.flatten(), at::mm(dq, w_ih));
  expect_near(p["encoder.weight"].grad(), dx, "embedding");
}

}  // namespace
}  // namespace bitcycle
