#include "bitcycle/report/table.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(TableTest, AlignsWordsLeftAndNumbersRight) {
  Table table({"model", "GBitOPs", "saving"});
  table.add_row({"static", "120.5", "-"});
  table.add_row({"CPT 3-8", "76.3", "-36.7 %"});
  EXPECT_EQ(table.text(),
            "model    GBitOPs   saving\n"
            "-------  -------  -------\n"
            "static     120.5        -\n"
            "CPT 3-8     76.3  -36.7 %\n");
}

TEST(TableTest, ControlCharactersAreWrittenOut) {
  Table table({"name"});
  table.add_row(
      {"a\x1b[31mb\r\xc2\x9b"
       "c é"});
  EXPECT_EQ(table.text().substr(table.text().rfind("a")), "a\\x1b[31mb\\x0d\\xc2\\x9bc é\n");
}

TEST(TableTest, ARowStaysOnItsLine) {
  Table table({"name"});
  table.add_row({"two\nlines"});
  EXPECT_EQ(table.text(), "name\n------------\ntwo\\x0alines\n");
}

TEST(TableTest, LeavesNoSpacesAtTheEndOfALine) {
  Table table({"a", "text"});
  table.add_row({"1", "x"});
  EXPECT_EQ(table.text(), "a  text\n-  ----\n1  x\n");
}

TEST(TableTest, CountsCodePointsNotBytes) {
  Table table({"size", "n"});
  table.add_row({"a×b", "1"});
  table.add_row({"conv1", "2"});
  EXPECT_EQ(table.text(), "size   n\n-----  -\na×b    1\nconv1  2\n");
}

TEST(TableTest, AHeaderAloneIsATable) {
  EXPECT_EQ(Table({"name", "bits"}).text(), "name  bits\n----  ----\n");
}

}  // namespace
}  // namespace bitcycle
