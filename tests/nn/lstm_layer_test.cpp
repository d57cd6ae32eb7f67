#include "bitcycle/nn/lstm_layer.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using RunWindow = LstmWindow (*)(LstmLayer&, const at::Tensor&, const at::Tensor&,
                                 const at::Tensor&);

struct Traced {
  std::vector<at::Tensor> exact;    // the same however the window is run
  std::vector<at::Tensor> weights;  // gradients of hh's weight and bias
};

enum class Reader { output, cell, both };

Traced run(RunWindow run_it, Executor executor, LayerBits bits, Reader reader = Reader::both) {
  torch::manual_seed(6);
  LstmLayer layer{QuantLinear(torch::nn::LinearOptions(13, 4 * 21)),
                  QuantLinear(torch::nn::LinearOptions(21, 4 * 21))};
  for (QuantLinear* linear : {&layer.ih, &layer.hh}) {
    set_executor(**linear, executor);
    (*linear)->set_precision(bits, RandomKey(3));
  }
  at::Tensor x = torch::randn({9, 5, 13}).requires_grad_();
  at::Tensor h = torch::randn({5, 21}).requires_grad_(), c = torch::randn({5, 21}).requires_grad_();
  const at::Tensor errors = torch::randn({9, 5, 21}), cell_errors = torch::randn({5, 21});
  const LstmWindow window = run_it(layer, x, h, c);
  at::Tensor loss = at::zeros({});
  if (reader != Reader::cell) loss = loss + (window.output * errors).sum();
  if (reader != Reader::output) loss = loss + (window.cell * cell_errors).sum();
  loss.backward();
  Traced traced{{window.output, window.cell, x.grad(), h.grad(), c.grad(), layer.ih->weight.grad(),
                 layer.ih->bias.grad()},
                {layer.hh->weight.grad(), layer.hh->bias.grad()}};
  for (const auto& buffer : layer.hh->buffers()) traced.exact.push_back(buffer);
  return traced;
}

TEST(LstmLayerTest, WindowsAreTheirStepsToTheByte) {
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    for (const LayerBits bits :
         {LayerBits{}, LayerBits{4, 4, 8}, LayerBits{8, 8, 8}, LayerBits{8, 8, 12}}) {
      for (const Reader reader : {Reader::output, Reader::cell, Reader::both}) {
        const Traced fused = run(run_window, executor, bits, reader);
        const Traced steps = run(run_window_by_steps, executor, bits, reader);
        for (std::size_t i = 0; i < fused.exact.size(); ++i) {
          EXPECT_TRUE(fused.exact[i].equal(steps.exact[i])) << i;
        }
        for (std::size_t i = 0; i < fused.weights.size(); ++i) {
          EXPECT_TRUE(at::allclose(fused.weights[i], steps.weights[i], 1e-5, 1e-5)) << i;
        }
      }
    }
  }
}

TEST(LstmLayerTest, LetsGoOfAWindowThatNobodyHolds) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    for (const int bits : {0, 8}) {
      LstmLayer layer{QuantLinear(torch::nn::LinearOptions(13, 4 * 21)),
                      QuantLinear(torch::nn::LinearOptions(21, 4 * 21))};
      set_executor(*layer.hh, executor);
      layer.hh->set_precision({bits, bits, bits}, RandomKey(3));
      LstmWindow window =
          run_window(layer, torch::randn({3, 5, 13}), torch::randn({5, 21}), torch::randn({5, 21}));
      window.output.sum().backward();
      const auto values = c10::weak_intrusive_ptr<c10::StorageImpl>(
          c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
              window.output.storage().unsafeGetStorageImpl()));
      EXPECT_FALSE(values.expired());
      window = {};
      EXPECT_TRUE(values.expired()) << "bits " << bits;
    }
  }
}

TEST(LstmLayerTest, MayBeGoneBackThroughTwice) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    LstmLayer layer{QuantLinear(torch::nn::LinearOptions(13, 4 * 21)),
                    QuantLinear(torch::nn::LinearOptions(21, 4 * 21))};
    set_executor(*layer.hh, executor);
    layer.hh->set_precision({6, 6, 6}, RandomKey(3));
    const LstmWindow window =
        run_window(layer, torch::randn({3, 5, 13}), torch::randn({5, 21}), torch::randn({5, 21}));
    const at::Tensor loss = window.output.square().sum();
    loss.backward({}, /*retain_graph=*/true);
    const at::Tensor once = layer.hh->weight.grad().clone();
    loss.backward();
    EXPECT_TRUE(layer.hh->weight.grad().equal(once + once));
  }
}

// LibTorch's own LSTM in double.
TEST(LstmLayerTest, IsLibTorchsInFloat) {
  torch::manual_seed(6);
  LstmLayer layer{QuantLinear(torch::nn::LinearOptions(13, 4 * 21)),
                  QuantLinear(torch::nn::LinearOptions(21, 4 * 21))};
  const at::Tensor x = torch::randn({9, 5, 13}), h = torch::randn({5, 21});
  const at::Tensor c = torch::randn({5, 21});
  const auto wide = [](const at::Tensor& t) { return t.detach().to(at::kDouble); };
  const std::vector<at::Tensor> parameters = {wide(layer.ih->weight), wide(layer.hh->weight),
                                              wide(layer.ih->bias), wide(layer.hh->bias)};
  const auto [output, last_h, last_c] =
      at::lstm(wide(x), {wide(h).unsqueeze(0), wide(c).unsqueeze(0)}, parameters, true, 1, 0.0,
               false, false, false);
  const LstmWindow window = run_window(layer, x, h, c);
  EXPECT_LT((wide(window.output) - output).abs().max().item<double>(), 1e-6);
  EXPECT_LT((wide(window.cell) - last_c[0]).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace bitcycle
