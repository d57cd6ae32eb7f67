#include "bitcycle/nn/quant_conv.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// With several threads oneDNN did not come back from such a gradient.
TEST(QuantConv2dTest, PointwiseConvolutionsDoNotDependOnTheNumberOfThreads) {
  const auto weight_gradient = [](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    torch::manual_seed(4);
    QuantConv2d conv(torch::nn::Conv2dOptions(32, 32, 1).bias(false));
    conv->set_precision({6, 6, 8}, RandomKey(5));
    const at::Tensor y = conv->forward(torch::randn({64, 32, 12, 12}));
    y.backward(torch::randn(y.sizes()));
    at::set_num_threads(before);
    return conv->weight.grad();
  };
  EXPECT_TRUE(weight_gradient(2).equal(weight_gradient(1)));
}

}  // namespace
}  // namespace bitcycle
