#include "report/printable.h"

#include <sstream>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(PrintableTest, LinesAfterTheFirstAreIndentedAndNoneIsLongerThan80Columns) {
  std::string text = "  file.jpg";
  for (int i = 0; i < 60; ++i) text += " word" + std::to_string(i);
  std::istringstream lines(wrapped(text, 4));
  std::string line, joined;
  for (int number = 0; std::getline(lines, line); ++number) {
    EXPECT_LE(line.size(), 80U);
    EXPECT_EQ(line.find_first_not_of(' '), number == 0 ? 2U : 4U) << line;
    joined += number == 0 ? line : line.substr(3);
  }
  EXPECT_EQ(joined, text) << "no word is lost";
}

TEST(PrintableTest, AShortLineStaysAsItIs) {
  EXPECT_EQ(wrapped("  short", 4), "  short\n");
}

}  // namespace
}  // namespace bitcycle
