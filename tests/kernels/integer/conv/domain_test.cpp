#include "bitcycle/kernels/integer/domain.h"

#include "bitcycle/base/error.h"

#include <gtest/gtest.h>

namespace bitcycle::integer {
namespace {

TEST(Domain, TakesWidthsOfTwoToEightBitsAndErrorsOfUpToSixteen) {
  for (int bits = 0; bits <= 20; ++bits) {
    EXPECT_EQ(takes_width(bits), bits >= 2 && bits <= 8);
    EXPECT_EQ(takes_widths({.weight = bits, .activation = 4, .error = 12}), takes_width(bits));
    EXPECT_EQ(takes_widths({.weight = 4, .activation = bits, .error = 12}), takes_width(bits));
    EXPECT_EQ(takes_widths({.weight = 4, .activation = 4, .error = bits}), bits >= 2 && bits <= 16);
  }
}

TEST(Domain, TakesOddSquareKernelsThatPadByHalfTheirSize) {
  for (int kernel = 1; kernel <= 7; ++kernel) {
    for (int padding = 0; padding <= 4; ++padding) {
      const ConvRequest request{
          .kernel = {kernel, kernel}, .padding = {padding, padding}, .in_channels = 8};
      EXPECT_EQ(obstacle(request).empty(), kernel % 2 == 1 && padding == kernel / 2);
    }
  }
}

// Each differs from a convolution that is taken in one thing, in one direction.
TEST(Domain, NamesWhatItDoesNotTake) {
  const auto reason = [](auto change) {
    ConvRequest request{.kernel = {3, 3}, .padding = {1, 1}, .in_channels = 8, .out_channels = 8};
    EXPECT_EQ(obstacle(request), "");
    change(request);
    return obstacle(request);
  };
  EXPECT_EQ(reason([](auto& r) { r.dilation = {1, 2}; }), "a dilation of 1 x 2");
  EXPECT_EQ(reason([](auto& r) { r.dilation = {2, 1}; }), "a dilation of 2 x 1");
  EXPECT_EQ(reason([](auto& r) { r.dilation = {2, 2}; }), "a dilation of 2");
  EXPECT_EQ(reason([](auto& r) { r.kernel = {3, 5}; }), "a kernel of 3 x 5");
  EXPECT_EQ(reason([](auto& r) { r.kernel = {4, 4}; }), "a kernel of even size 4");
  EXPECT_EQ(reason([](auto& r) { r.stride = {1, 2}; }), "a stride of 1 x 2");
  EXPECT_EQ(reason([](auto& r) { r.padding = {1, 0}; }), "padding 1 x 0 (a kernel of 3 needs 1)");
  EXPECT_EQ(reason([](auto& r) { r.stride = {0, 0}; }), "a stride of 0");
  EXPECT_EQ(reason([](auto& r) { r.kernel = {-1, -1}; }), "a kernel of -1");
  EXPECT_EQ(reason([](auto& r) { r.groups = 0; }), "0 groups of 8 and 8 channels");
  EXPECT_EQ(reason([](auto& r) { r.groups = 3; }), "3 groups of 8 and 8 channels");
  EXPECT_EQ(reason([](auto& r) { r.width = 32769; }), "rows of 32769 outputs (at most 32768)");
  EXPECT_EQ(reason([](auto& r) {
              r.kernel = {17, 17};
              r.padding = {8, 8};
              r.groups = 8;
            }),
            "a depthwise kernel of 17 (at most 15)");
}

TEST(Domain, TakesFullyConnectedLayersWhoseSumsFit) {
  EXPECT_EQ(obstacle({.in_channels = 65793, .out_channels = 65793}), "");
  EXPECT_EQ(obstacle({.in_channels = 65794}), "65794 products per sum (at most 65793)");
  EXPECT_EQ(obstacle({.out_channels = 65794}), "65794 products per sum (at most 65793)");
  EXPECT_EQ(obstacle({.in_channels = 65794, .out_channels = 65794, .groups = 2}), "");
  EXPECT_THROW(ConvWeights(ConvShape{.in_channels = 65794}), Error);
}

}  // namespace
}  // namespace bitcycle::integer
