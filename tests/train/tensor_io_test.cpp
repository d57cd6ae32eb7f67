#include "bitcycle/train/tensor_io.h"

#include "bitcycle/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

TEST(TensorIoTest, RoundTripKeepsValuesInAnyMemoryOrder) {
  const at::Tensor weight = torch::randn({4, 3, 2, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor count = torch::tensor({7}, at::kLong);
  const at::Tensor target = at::zeros({4, 3, 2, 5}), other = at::zeros({1}, at::kLong);
  restore_tensors(encode_tensors({{"w", weight}, {"n", count}}), "file",
                  {{"w", target}, {"n", other}});
  EXPECT_TRUE(target.equal(weight));
  EXPECT_TRUE(other.equal(count));
}

TEST(TensorIoTest, MemoryOrderDoesNotShowInTheFile) {
  const at::Tensor plain = torch::randn({4, 3, 2, 5});
  EXPECT_EQ(encode_tensors({{"w", plain}}),
            encode_tensors({{"w", plain.contiguous(at::MemoryFormat::ChannelsLast)}}));
}

std::string restore_error(const NamedTensors& stored, const NamedTensors& wanted) {
  try {
    restore_tensors(encode_tensors(stored), "model.safetensors", wanted);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    return error.what();
  }
  return "no error";
}

TEST(TensorIoTest, AnotherModelIsRefusedByName) {
  const at::Tensor a = at::zeros({2}), b = at::zeros({3}), c = at::zeros({2}, at::kLong);
  EXPECT_THAT(restore_error({{"w", a}}, {{"w", a}, {"v", a}}), HasSubstr("lacks the tensor \"v\""));
  EXPECT_THAT(restore_error({{"w", a}, {"v", a}}, {{"w", a}}), HasSubstr("\"v\" too many"));
  EXPECT_THAT(restore_error({{"w", a}}, {{"w", b}}), HasSubstr("another shape or type"));
  EXPECT_THAT(restore_error({{"w", a}}, {{"w", c}}), HasSubstr("another shape or type"));
}

}  // namespace
}  // namespace bitcycle
