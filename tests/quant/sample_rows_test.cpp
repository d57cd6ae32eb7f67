// Samples that leave a batch, come back, and what the gates are told of them, against plain tensor
// operations.

#include "quant/sample_rows.h"

#include "bitcycle/nn/quant_conv.h"
#include "bitcycle/quant/sample_choice.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/quant/unit_tensor.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// The result is linear in how much of a sample skips: y + share (skipped - y). Its slope, found by
// mixing in plain tensor operations, is what the gate is told of those that went through.
TEST(SkippedSamples, GradientOfSkippingIsTheSlopeOfMixing) {
  torch::manual_seed(4);
  const auto pictures = [] {
    return at::randn({5, 3, 4, 6}).contiguous(at::MemoryFormat::ChannelsLast);
  };
  const at::Tensor x = pictures(), factors = pictures();
  for (const std::vector<int>& rows : {std::vector<int>{0, 1, 2, 3, 4}, {1, 3}, {4}}) {
    const at::Tensor index = at::tensor(std::vector<std::int64_t>(rows.begin(), rows.end()));
    const at::Tensor y =
        pictures().index_select(0, index).contiguous(at::MemoryFormat::ChannelsLast);
    at::Tensor skipped = x.clone().requires_grad_(), passed = y.clone().requires_grad_();
    at::Tensor skip = at::ones({5}).index_fill_(0, index, 0).requires_grad_();
    const at::Tensor joined = join_samples(skipped, passed, skip, {rows, 8.0f});
    (joined * factors).sum().backward();

    const at::Tensor share = skip.detach().clone().requires_grad_();
    const at::Tensor whole = x.index_copy(0, index, y);
    const at::Tensor mixed = whole + share.view({5, 1, 1, 1}) * (x - whole);
    EXPECT_TRUE(joined.equal(whole));
    (mixed * factors).sum().backward();
    EXPECT_TRUE(at::allclose(skip.grad() * 8, share.grad(), 1e-4, 1e-4)) << skip.grad();
    EXPECT_TRUE(passed.grad().equal(factors.index_select(0, index)));
    const at::Tensor untouched = factors.index_fill(0, index, 0);
    EXPECT_TRUE(skipped.grad().defined() ? skipped.grad().equal(untouched) : rows.size() == 5);
  }
}

// Integers, so that sums of halves are exact.
at::Tensor half_pictures(std::int64_t samples) {
  return at::randint(-8, 9, {samples, 3, 4, 4})
      .to(at::kHalf)
      .contiguous(at::MemoryFormat::ChannelsLast);
}
std::shared_ptr<const SampleRows> rows_of_six(std::vector<int> rows) {
  return std::make_shared<const SampleRows>(SampleRows{std::move(rows), 6});
}
at::Tensor index_of(const SampleRows& rows) {
  return at::tensor(std::vector<std::int64_t>(rows.rows.begin(), rows.rows.end()));
}
const std::vector<std::vector<int>> kSomeOfSix = {{0, 1, 2, 3, 4, 5}, {1, 4}, {5}};

TEST(SkippedSamples, InPlaceTheGradientsOfAllWaysAreAddedUp) {
  torch::manual_seed(5);
  for (const std::vector<int>& some : kSomeOfSix) {
    for (const Around way : {Around::the_others, Around::all_samples}) {
      const auto rows = rows_of_six(some);
      const at::Tensor index = index_of(*rows), values = half_pictures(6);
      const auto through = [&](const at::Tensor& part, const at::Tensor& factors) {
        const at::Tensor samples = leave_half(ready({.values = part, .rows = rows}), 1);
        EXPECT_TRUE(samples.equal(values.index_select(0, index).to(at::kFloat)));
        return (samples * factors.to(at::kFloat)).sum();
      };
      const at::Tensor a = half_pictures(index.size(0)), b = half_pictures(index.size(0));
      const at::Tensor around = half_pictures(6);
      at::Tensor x = values.clone().requires_grad_();
      const SplitSamples ways = split_samples(x, rows, way);
      at::Tensor loss = (leave_half(ways.around, 1) * around.to(at::kFloat)).sum();
      loss = loss + through(ways.first, a);
      if (way == Around::the_others) loss = loss + through(ways.second, b);
      loss.backward();
      const at::Tensor whole = around.to(at::kFloat);
      const at::Tensor own = way == Around::the_others ? a + b : whole.index_select(0, index) + a;
      const at::Tensor expected = whole.index_copy(0, index, own.to(at::kFloat));
      EXPECT_TRUE(x.grad().to(at::kFloat).equal(expected));
    }
  }
}

TEST(SkippedSamples, JoinedInPlaceAreThoseThatPassedAmongTheOthers) {
  torch::manual_seed(6);
  for (const std::vector<int>& some : kSomeOfSix) {
    const auto rows = rows_of_six(some);
    const at::Tensor index = index_of(*rows), before = half_pictures(6), own = half_pictures(6);
    const at::Tensor factors = half_pictures(6).to(at::kFloat);
    const at::Tensor memory = own.clone();
    at::Tensor passed = with_samples(memory, index.size(0)).requires_grad_();
    at::Tensor skipped = before.clone().requires_grad_();
    at::Tensor skip = at::ones({6}).index_fill_(0, index, 0).requires_grad_();
    const std::vector<Range> of_before(6, Range{-1, 1});
    UnitTensor inside{.values = passed, .rows = rows};
    inside.sample_ranges.assign(rows->rows.size(), Range{-2, 2});
    const UnitTensor joined = join_in_place(
        {.values = skipped, .gradient_scale = 4.0f, .sample_ranges = of_before}, inside, skip);
    EXPECT_TRUE(joined.values.equal(before.index_copy(0, index, own.index_select(0, index))));
    for (std::size_t n = 0; n < 6; ++n) {
      const bool went = std::ranges::count(some, static_cast<int>(n)) > 0;
      EXPECT_EQ(joined.sample_ranges[n].high, went ? 2 : 1);
    }
    (leave_half(joined.values, 4.0f) * factors).sum().backward();
    const at::Tensor worth = ((before - own).to(at::kFloat) * factors).sum({1, 2, 3});
    const at::Tensor none = at::zeros({6});
    EXPECT_TRUE(skip.grad().equal(none.index_copy(0, index, worth.index_select(0, index))))
        << skip.grad() << worth;
  }
}

TEST(SkippedSamples, GradientsOfChannelMeansAreSharedByThePixels) {
  torch::manual_seed(7);
  const at::Tensor factors = half_pictures(6).to(at::kFloat);
  const at::Tensor of_means = at::randint(-8, 9, {6, 3}).to(at::kFloat);
  for (const bool others : {true, false}) {
    at::Tensor x = half_pictures(6).requires_grad_();
    const auto [same, means] = with_channel_means(x, 2.0f);
    EXPECT_TRUE(at::allclose(means, x.detach().to(at::kFloat).mean({2, 3}), 1e-3, 1e-3));
    at::Tensor loss = (means * of_means).sum();
    if (others) loss = loss + (leave_half(same, 2.0f) * factors).sum();
    loss.backward();
    const at::Tensor expected = 2 * (of_means.view({6, 3, 1, 1}) / 16).expand({6, 3, 4, 4}) +
                                (others ? 2 * factors : at::zeros_like(factors));
    EXPECT_TRUE(x.grad().to(at::kFloat).equal(expected));
  }
}

// dL/dm_k = <dL/dx, Q_k(x)> summed over a block's layers: one layer, whose mixed input is written
// out in plain tensor operations, with errors in float.
TEST(SampleChoice, GradientOfTheMaskIsThatOfMixingQuantizedInputs) {
  torch::manual_seed(3);
  const std::vector<LayerBits> options = {{4, 3, 0}, {4, 4, 0}, {4, 6, 0}};
  const std::vector<int> of_sample = {2, 0, 1, 1};
  const at::Tensor x = at::randn({4, 5, 7, 7}).contiguous(at::MemoryFormat::ChannelsLast);
  QuantConv2d conv(torch::nn::Conv2dOptions(5, 6, 3).padding(1).bias(false));
  at::Tensor mask =
      at::one_hot(at::tensor({2, 0, 1, 1}, at::kLong), 3).to(at::kFloat).requires_grad_();
  conv->choose(std::make_shared<SampleChoice>(SampleChoice{options, of_sample, mask}), 4);
  const at::Tensor factors = at::randn({4, 6, 7, 7});
  const at::Tensor y = conv->forward(x.clone().requires_grad_());
  (y * factors).sum().backward();

  const Scheme sbm = sbm_scheme();
  const at::Tensor soft = mask.detach().clone().requires_grad_();
  at::Tensor mixed = at::zeros_like(x);
  for (std::size_t k = 0; k < options.size(); ++k) {
    mixed = mixed + soft.select(1, k).view({-1, 1, 1, 1}) *
                        sbm.activation.quantize(x, sbm.activation.range(x), options[k].activation);
  }
  const at::Tensor expected =
      at::conv2d(mixed, sbm.weight.quantize(conv->weight.detach(), 4), {}, {1, 1}, {1, 1});
  EXPECT_TRUE(at::allclose(y, expected, 1e-4, 1e-4));
  (expected * factors).sum().backward();
  EXPECT_TRUE(at::allclose(mask.grad(), soft.grad(), 1e-4, 1e-3)) << mask.grad() << soft.grad();
}

}  // namespace
}  // namespace bitcycle
