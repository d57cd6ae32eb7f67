#include "bitcycle/kernels/integer/domain.h"

#include "bitcycle/base/error.h"

#include "kernels/integer/isa/exact_sums.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle::integer {
namespace {

// Sums of 15 x 15 taps of 8-bit codes fit the depthwise kernels' registers.
constexpr int kMaxDepthwiseKernel = 15;

// A row's products of two 8-bit differences fit the 32-bit sums of backward-weights.
constexpr int kMaxRowOutputs = 32768;
static_assert(kMaxRowOutputs * 255LL * 255 <= 2147483647);

using Pair = std::array<std::int64_t, 2>;

std::string shown(const Pair& pair) {
  return pair[0] == pair[1] ? fmt::format("{}", pair[0]) : fmt::format("{} x {}", pair[0], pair[1]);
}

// What no convolution has. Everything below may divide.
std::string impossible_part(const ConvRequest& r) {
  const auto below_one = [](const Pair& pair) { return std::min(pair[0], pair[1]) < 1; };
  if (below_one(r.kernel)) return fmt::format("a kernel of {}", shown(r.kernel));
  if (below_one(r.stride)) return fmt::format("a stride of {}", shown(r.stride));
  if (r.groups < 1 || r.in_channels % r.groups != 0 || r.out_channels % r.groups != 0) {
    return fmt::format("{} groups of {} and {} channels", r.groups, r.in_channels, r.out_channels);
  }
  return "";
}

std::string window_obstacle(const ConvRequest& r) {
  const std::int64_t kernel = r.kernel[0];
  if (r.kernel[1] != kernel) return fmt::format("a kernel of {}", shown(r.kernel));
  if (kernel % 2 == 0) return fmt::format("a kernel of even size {}", kernel);
  if (r.stride[0] != r.stride[1]) return fmt::format("a stride of {}", shown(r.stride));
  if (r.dilation != Pair{1, 1}) return fmt::format("a dilation of {}", shown(r.dilation));
  if (r.padding == Pair{kernel / 2, kernel / 2}) return "";
  return fmt::format("padding {} (a kernel of {} needs {})", shown(r.padding), kernel, kernel / 2);
}

std::string sum_obstacle(const ConvRequest& r) {
  const std::int64_t kernel = r.kernel[0];
  const bool depthwise = r.groups > 1 && r.groups == r.in_channels && r.groups == r.out_channels;
  if (depthwise && kernel > kMaxDepthwiseKernel) {
    return fmt::format("a depthwise kernel of {} (at most {})", kernel, kMaxDepthwiseKernel);
  }
  const std::int64_t products =
      kernel * kernel * std::max(r.in_channels, r.out_channels) / r.groups;
  if (products > kMaxProducts) {
    return fmt::format("{} products per sum (at most {})", products, kMaxProducts);
  }
  const std::int64_t outputs = (r.width - 1) / r.stride[1] + 1;
  if (outputs <= kMaxRowOutputs) return "";
  return fmt::format("rows of {} outputs (at most {})", outputs, kMaxRowOutputs);
}

std::string width_obstacle(int bits, const char* role) {
  return bits == 0 ? fmt::format("{} in float", role) : fmt::format("{}-bit {}", bits, role);
}

ConvRequest request_of(const ConvShape& shape) {
  return {.kernel = {shape.kernel, shape.kernel},
          .stride = {shape.stride, shape.stride},
          .padding = {shape.pad(), shape.pad()},
          .in_channels = shape.in_channels,
          .out_channels = shape.out_channels,
          .groups = shape.groups,
          .width = shape.width};
}

}  // namespace

std::string obstacle(LayerBits bits) {
  if (!takes_width(bits.weight)) return width_obstacle(bits.weight, "weights");
  if (!takes_width(bits.activation)) return width_obstacle(bits.activation, "activations");
  return takes_error_width(bits.error) ? "" : width_obstacle(bits.error, "errors");
}

std::string obstacle(const ConvRequest& request) {
  const std::string impossible = impossible_part(request);
  if (!impossible.empty()) return impossible;
  const std::string window = window_obstacle(request);
  return window.empty() ? sum_obstacle(request) : window;
}

void expect_taken(const ConvShape& shape) {
  const std::string reason = obstacle(request_of(shape));
  if (reason.empty()) return;
  throw Error(ErrorCode::usage, "the integer kernels do not take a layer that has " + reason,
              "Simulate this layer.");
}

}  // namespace bitcycle::integer
