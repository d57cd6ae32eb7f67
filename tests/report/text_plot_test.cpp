#include "bitcycle/report/text_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(TextPlotTest, JoinsTheStepsOfEveryColumn) {
  const std::vector<int> values = {3, 3, 4, 6, 3};
  EXPECT_EQ(text_plot(values),
            "6 ┤   ╭╮\n"
            "5 ┤   ││\n"
            "4 ┤  ╭╯│\n"
            "3 ┤──╯ ╰\n");
  EXPECT_EQ(text_plot(values, {.charset = Charset::ascii}),
            "6 |   ++\n"
            "5 |   ||\n"
            "4 |  ++|\n"
            "3 |--+ +\n");
}

TEST(TextPlotTest, AConstantIsALine) {
  EXPECT_EQ(text_plot(std::vector<int>{8, 8, 8}), "8 ┤───\n");
  EXPECT_EQ(text_plot(std::vector<int>{8}), "8 ┤─\n");
  EXPECT_EQ(text_plot(std::vector<int>{}), "");
}

TEST(TextPlotTest, ANarrowPeakIsNotLostBetweenColumns) {
  std::vector<int> values(1000, 3);
  values[501] = 5;
  EXPECT_EQ(text_plot(values, {.columns = 4}),
            "5 ┤  ╷\n"
            "4 ┤  │\n"
            "3 ┤──┴─\n");
}

TEST(TextPlotTest, ManyLevelsShareRows) {
  std::vector<int> values(25);
  for (int i = 0; i < 25; ++i) values[i] = 8 + i;
  const std::string text = text_plot(values, {.columns = 10, .max_rows = 4});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_EQ(text.substr(0, 3), "32 ");
  EXPECT_NE(text.find("\n 8 "), text.npos);
}

TEST(TextPlotTest, AnyNumbersGoFromTheLowestToTheHighest) {
  const std::vector<double> values = {2.5, 1.75, 1.0};
  EXPECT_EQ(text_plot(values, {.max_rows = 4}),
            "2.5 ┤─╮\n"
            "  2 ┤ ╰╮\n"
            "1.5 ┤  │\n"
            "  1 ┤  ╰\n");
}

TEST(TextPlotTest, WhatIsNotFiniteIsLeftOutAndAConstantIsALine) {
  const std::vector<double> values = {0.1, NAN, 0.1, INFINITY};
  EXPECT_EQ(text_plot(values), "0.1 ┤──\n");
  EXPECT_EQ(text_plot(std::vector<double>{NAN}), "");
}

// Sets a locale for one test and puts the old one back.
class CharsetTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* old = std::getenv("LC_ALL");
    if (old != nullptr) old_ = old;
  }
  void TearDown() override { setenv("LC_ALL", old_.c_str(), 1); }

 private:
  std::string old_;
};

TEST_F(CharsetTest, FollowsTheLocale) {
  setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_EQ(terminal_charset(), Charset::unicode);
  setenv("LC_ALL", "de_DE.utf8", 1);
  EXPECT_EQ(terminal_charset(), Charset::unicode);
  setenv("LC_ALL", "C", 1);
  EXPECT_EQ(terminal_charset(), Charset::ascii);
}

}  // namespace
}  // namespace bitcycle
