#include "bitcycle/quant/quantizer.h"

#include "bitcycle/nn/quant_conv.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

at::Tensor pictures(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return torch::randn({n, c, h, w}).contiguous(at::MemoryFormat::ChannelsLast);
}

// Devices without fused passes spell the same arithmetic in tensor operations: the same values, to
// the last bit.
TEST(QuantizerTest, TensorOperationsGiveTheFusedPassesValues) {
  for (int bits = 1; bits <= 8; ++bits) {
    const at::Tensor x = pictures(3, 5, 7, 6);
    const Range range = tensor_range(x);
    EXPECT_EQ(range.low, portable::tensor_range(x).low);
    EXPECT_EQ(range.high, portable::tensor_range(x).high);
    EXPECT_TRUE(quantize_tensor(x, range, bits).equal(portable::quantize_tensor(x, range, bits)));
    EXPECT_TRUE(quantize_weight(x, bits).equal(portable::quantize_weight(x, bits)));
    const NoiseKey key = noise_key(RandomKey(bits));
    EXPECT_TRUE(quantize_error(x, bits, key).equal(portable::quantize_error(x, bits, key)));
  }
}

TEST(QuantizerTest, KeepsNoMoreThanTwoToTheBitsValues) {
  const at::Tensor x = pictures(2, 4, 9, 9);
  for (int bits = 2; bits <= 6; ++bits) {
    const at::Tensor q = quantize_tensor(x, tensor_range(x), bits);
    EXPECT_LE(std::get<0>(at::_unique(q)).numel(), 1 << bits);
  }
}

TEST(QuantizerTest, WeightsAreQuantizedByOutputChannelWhateverTheMemoryOrder) {
  const at::Tensor weight = torch::tensor({-.9f, .1f, .35f, .7f, .02f, -.01f, .05f, -.04f});
  const at::Tensor expected =
      torch::tensor({-.9f, .0142857f, .2428571f, .7f, .0242857f, -.0142857f, .05f, -.04f});
  const at::Tensor plain = weight.view({2, 1, 2, 2}), turned = weight.view({2, 4, 1, 1});
  for (const at::Tensor& w : {plain, turned, turned.contiguous(at::MemoryFormat::ChannelsLast)}) {
    EXPECT_TRUE(at::allclose(quantize_weight(w, 3).flatten(), expected, 0, 5e-7));
  }
}

// y = conv(x_q, w_q); dx and dw from the quantized error, straight through.
TEST(QuantConv2dTest, ForwardAndBackwardFollowTheScheme) {
  const LayerBits bits{3, 4, 5};
  const RandomKey key = RandomKey(9).derive("layer");
  QuantConv2d conv(torch::nn::Conv2dOptions(3, 6, 3).stride(2).padding(1).bias(false));
  conv->set_precision(bits, key);
  at::Tensor x = pictures(10, 3, 9, 8).requires_grad_();
  const at::Tensor y = conv->forward(x);
  const at::Tensor error = torch::randn_like(y);
  y.backward(error);

  const at::Tensor xq = quantize_tensor(x.detach(), tensor_range(x.detach()), bits.activation);
  const at::Tensor wq = quantize_weight(conv->weight.detach(), bits.weight);
  EXPECT_TRUE(at::allclose(y, at::conv2d(xq, wq, {}, 2, 1), 1e-4, 1e-5));
  const at::Tensor eq = quantize_error(error, bits.error, noise_key(key));
  const auto [dx, dw, db] = at::convolution_backward(eq, xq, wq, c10::nullopt, {2, 2}, {1, 1},
                                                     {1, 1}, false, {0, 0}, 1, {true, true, false});
  EXPECT_TRUE(at::allclose(x.grad(), dx, 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(conv->weight.grad(), dw, 1e-4, 1e-4));
}

TEST(QuantConv2dTest, BitsOfZeroAreFloat) {
  QuantConv2d conv(torch::nn::Conv2dOptions(3, 4, 3).bias(true));
  const at::Tensor x = pictures(2, 3, 8, 8);
  const at::Tensor expected = at::conv2d(x, conv->weight, conv->bias);
  EXPECT_TRUE(at::allclose(conv->forward(x), expected, 1e-4, 1e-5));
}

// The papers' values: activations [0,.3,1.1,.2 | .5,2,0,.9]; the running range starts at zero there
// and is .2 after one step, .38 after two.
TEST(QuantConv2dTest, RunningRangeFollowsTheReferenceAndServesEvaluation) {
  const at::Tensor x = torch::tensor({0.f, .3f, 1.1f, .2f, .5f, 2.f, 0.f, .9f}).view({2, 1, 2, 2});
  QuantConv2d conv(torch::nn::Conv2dOptions(1, 1, 1).bias(false));
  torch::NoGradGuard no_grad;
  conv->weight.fill_(1);
  conv->set_range_start(RangeStart::zero);
  conv->set_precision({0, 8, 0}, RandomKey(1));
  const auto running = [&] { return conv->named_buffers()["running_range"].item<float>(); };
  conv->forward(x);
  EXPECT_FLOAT_EQ(running(), .2f);
  conv->set_precision({0, 8, 0}, RandomKey(2));
  conv->forward(x);
  EXPECT_FLOAT_EQ(running(), .38f);
  conv->eval();
  const at::Tensor expected =
      torch::tensor({0.f, .299529f, .38f, .199686f, .38f, .38f, 0.f, .38f}).view({2, 1, 2, 2});
  EXPECT_TRUE(at::allclose(conv->forward(x), expected, 0, 1e-6));
  EXPECT_FLOAT_EQ(running(), .38f);
}

TEST(QuantConv2dTest, RunningRangeStartsAtTheFirstBatchByDefault) {
  QuantConv2d conv(torch::nn::Conv2dOptions(1, 1, 1).bias(false));
  conv->set_precision({0, 8, 0}, RandomKey(1));
  conv->forward(torch::tensor({-1.f, 3.f}).view({1, 1, 1, 2}));
  EXPECT_FLOAT_EQ(conv->named_buffers()["running_range"].item<float>(), 4);
  EXPECT_FLOAT_EQ(conv->named_buffers()["running_zero"].item<float>(), -1);
}

}  // namespace
}  // namespace bitcycle
