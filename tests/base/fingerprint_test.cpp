#include "bitcycle/base/fingerprint.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::string of(const std::vector<std::string>& texts) {
  Fingerprint print;
  for (const std::string& text : texts) print.add(text);
  return print.text();
}

TEST(FingerprintTest, TheSameContentHasTheSameOne) {
  EXPECT_EQ(of({"a", "bc"}), of({"a", "bc"}));
  EXPECT_EQ(of({"a"}).size(), 16U);
}

TEST(FingerprintTest, OrderLengthsAndEveryByteCount) {
  const std::set<std::string> different = {of({}),          of({""}),        of({"", ""}),
                                           of({"a", "bc"}), of({"ab", "c"}), of({"bc", "a"}),
                                           of({"abc"}),     of({"abd"})};
  EXPECT_EQ(different.size(), 8U);
}

TEST(FingerprintTest, NumbersCountWithTheirSign) {
  Fingerprint minus, plus;
  minus.add(std::int64_t{-1});
  plus.add(std::int64_t{1});
  EXPECT_NE(minus.text(), plus.text());
}

}  // namespace
}  // namespace bitcycle
