#include "bitcycle/data/text/vocabulary.h"

#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;

TEST(VocabularyTest, NumbersWordsAsTheyCome) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.add("the"), 0);
  EXPECT_EQ(vocabulary.add("cat"), 1);
  EXPECT_EQ(vocabulary.add("the"), 0);
  EXPECT_EQ(vocabulary.size(), 2);
  EXPECT_EQ(vocabulary.id("cat"), 1);
  EXPECT_EQ(vocabulary.id("dog"), std::nullopt);
  EXPECT_EQ(vocabulary.word(1), "cat");
}

TEST(VocabularyTest, IsReadBackAsItWasWritten) {
  const Vocabulary vocabulary({"the", "na\u00efve", "<eos>", "<unk>", "@-@"});
  EXPECT_EQ(vocabulary.text(), "the\nna\u00efve\n<eos>\n<unk>\n@-@\n");
  const Vocabulary read = Vocabulary::parse(vocabulary.text(), "vocabulary.txt");
  EXPECT_EQ(read, vocabulary);
  EXPECT_EQ(read.id("@-@"), 4);
}

TEST(VocabularyTest, FingerprintTellsWordsAndTheirOrder) {
  const Vocabulary one({"a", "b"});
  EXPECT_EQ(one.fingerprint(), Vocabulary({"a", "b"}).fingerprint());
  EXPECT_NE(one.fingerprint(), Vocabulary({"b", "a"}).fingerprint());
  EXPECT_NE(one.fingerprint(), Vocabulary({"a", "c"}).fingerprint());
}

TEST(VocabularyTest, WhatIsNotAWordPerLineIsRefused) {
  const auto parse = [](std::string_view text) {
    return [text] { Vocabulary::parse(text, "words.txt"); };
  };
  expect_error(parse(""), ErrorCode::data, {"words.txt, line 1", "end of the file"});
  expect_error(parse("a\n\nb\n"), ErrorCode::data, {"words.txt, line 2", "an empty line"});
  expect_error(parse("a\nb c\n"), ErrorCode::data, {"words.txt, line 2", "\"b c\""});
  expect_error(parse("a\nb\na\n"), ErrorCode::data, {"words.txt, line 3", "\"a\" again"});
}

}  // namespace
}  // namespace bitcycle
