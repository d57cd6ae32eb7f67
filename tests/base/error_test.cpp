#include "bitcycle/base/error.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(ErrorTest, UserMistakesExitWithTwoAndOthersDoNot) {
  EXPECT_EQ(exit_status(ErrorCode::usage), 2);
  EXPECT_EQ(exit_status(ErrorCode::recipe), 2);
  EXPECT_EQ(exit_status(ErrorCode::data), 3);
  EXPECT_EQ(exit_status(ErrorCode::io), 4);
  EXPECT_EQ(exit_status(ErrorCode::checkpoint), 5);
  EXPECT_EQ(exit_status(ErrorCode::diverged), 6);
  EXPECT_EQ(exit_status(ErrorCode::network), 7);
  EXPECT_EQ(exit_status(ErrorCode::memory), 8);
}

TEST(ErrorTest, CarriesMessageAndHint) {
  const Error error(ErrorCode::data, "no such file", "get it");
  EXPECT_STREQ(error.what(), "no such file");
  EXPECT_EQ(error.hint(), "get it");
  EXPECT_EQ(name(error.code()), "data");
}

}  // namespace
}  // namespace bitcycle
