#include "bitcycle/data/text/corpus.h"

#include "data/checksum.h"
#include "data/support.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace bitcycle {
namespace {

using test::expect_error;
using Tokens = std::vector<std::int32_t>;

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

class CorpusTest : public testing::Test {
 protected:
  void write_ptb(const std::string& train, const std::string& validation, const std::string& test) {
    test::write(directory_ / "ptb.train.txt", train);
    test::write(directory_ / "ptb.valid.txt", validation);
    test::write(directory_ / "ptb.test.txt", test);
  }
  Corpus open_text(const std::string& text, CorpusOptions options = {}) {
    options.name = "text";
    options.root = root_ / "book.txt";
    test::write(options.root, text);
    return open_corpus(options);
  }
  CorpusOptions ptb() const { return {.name = "ptb", .root = root_.path()}; }

  TemporaryDirectory root_;
  std::filesystem::path directory_ = root_ / "ptb";
};

TEST_F(CorpusTest, WordsAreNumberedAsTheyAppearAndLinesEndInEos) {
  write_ptb(" the cat <unk> \n the mat\n\n", "a cat\n", " mat");
  const Corpus corpus = open_corpus(ptb());
  EXPECT_EQ(corpus.level, TokenLevel::word);
  EXPECT_EQ(corpus.vocabulary.text(), "the\ncat\n<unk>\n<eos>\nmat\n");
  EXPECT_EQ(corpus.vocabulary_size(), 5);
  EXPECT_EQ(corpus.train->tokens, (Tokens{0, 1, 2, 3, 0, 4, 3, 3}));
  EXPECT_EQ(corpus.validation->tokens, (Tokens{2, 1, 3}));  // "a" is unknown
  EXPECT_EQ(corpus.test->tokens, (Tokens{4, 3}));
}

TEST_F(CorpusTest, TheMostFrequentWordComesFirstWhereAsked) {
  write_ptb("rare the cat\nthe cat the\n", "the\n", "cat\n");
  CorpusOptions options = ptb();
  options.order = VocabularyOrder::frequency;
  EXPECT_EQ(open_corpus(options).vocabulary.text(), "the\ncat\n<eos>\nrare\n");
}

TEST_F(CorpusTest, CharactersAreThoseOfWordsOneSpaceApart) {
  write_ptb("  na\u00efve   cat \n\nx\n", "cat\n", "x na\u00efve\n");
  const Corpus corpus = open_corpus(ptb());
  const std::string normal = "na\u00efve cat\n\nx\n";
  EXPECT_EQ(corpus.train->size, (TextSize{static_cast<std::int64_t>(normal.size()), 13}));
  EXPECT_EQ(corpus.train->scored_size.characters, 13 - 5);
  EXPECT_EQ(corpus.train->scored_size.bytes, corpus.train->size.bytes - 6);
  EXPECT_EQ(corpus.validation->size, (TextSize{4, 4}));
}

TEST_F(CorpusTest, GzippedFilesAreReadLikePlainOnes) {
  const std::string text = "the cat\nthe <unk>\n";
  write_ptb(text, text, text);
  const Corpus plain = open_corpus(ptb());
  std::filesystem::remove(directory_ / "ptb.train.txt");
  write_gzip(directory_ / "ptb.train.txt.gz", text);
  const Corpus zipped = open_corpus(ptb());
  EXPECT_EQ(zipped.train->tokens, plain.train->tokens);
  EXPECT_EQ(zipped.fingerprint(), plain.fingerprint());
}

TEST_F(CorpusTest, AWordThatTheVocabularyLacksIsNamedWithItsPlace) {
  write_ptb("the cat\nthe mat\n", "the cat\na dog\n", "cat\n");
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data,
               {"ptb.valid.txt, line 2", "\"a\"", "4 words", "no <unk>"});
}

TEST_F(CorpusTest, BytesThatAreNotUtf8AreNamedWithTheirPlace) {
  write_ptb("the cat\nthe m\xe4t\n", "the\n", "cat\n");
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data,
               {"ptb.train.txt, line 2", "UTF-8", "0xe4 at offset 13", "iconv"});
}

TEST_F(CorpusTest, TextWithoutWordsIsAnError) {
  write_ptb("", "the\n", "the\n");
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data, {"ptb.train.txt", "an empty file"});
  write_ptb("the\n", " \n\n", "the\n");
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data,
               {"ptb.valid.txt", "white space alone"});
}

TEST_F(CorpusTest, AMissingCorpusComesWithItsCure) {
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data,
               {"ptb was not found in " + root_.path().string(), "ptb.train.txt",
                "no other place is looked at"});
  write_ptb("the\n", "the\n", "the\n");
  std::filesystem::remove(directory_ / "ptb.test.txt");
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data, {"ptb.test.txt is missing"});
  expect_error([&] { open_corpus({.name = "ptp"}); }, ErrorCode::usage, {"\"ptp\"", "\"ptb\""});
}

TEST_F(CorpusTest, TheVocabularyOfARunHolds) {
  write_ptb("new cat <unk>\n", "cat\n", "new\n");
  CorpusOptions options = ptb();
  options.vocabulary = Vocabulary({"cat", "<eos>", "<unk>"});
  const Corpus corpus = open_corpus(options);
  EXPECT_EQ(corpus.vocabulary, *options.vocabulary);
  EXPECT_EQ(corpus.train->tokens, (Tokens{2, 0, 2, 1}));
  EXPECT_EQ(corpus.test->tokens, (Tokens{2, 1}));
}

TEST_F(CorpusTest, LimitKeepsTheBeginningOfEachSplitAndTheWholeVocabulary) {
  write_ptb("the cat sat\non it\n", "it sat\n", "on the cat\n");
  CorpusOptions options = ptb();
  options.limit = 2;
  const Corpus corpus = open_corpus(options);
  EXPECT_EQ(corpus.vocabulary_size(), 6);
  EXPECT_EQ(corpus.train->tokens, (Tokens{0, 1}));
  EXPECT_EQ(corpus.train->size, (TextSize{7, 7}));  // "the cat"
  EXPECT_EQ(corpus.test->tokens.size(), 2u);
  options.limit = 1;
  expect_error([&] { open_corpus(options); }, ErrorCode::data, {"at least 2 tokens", "data.limit"});
}

TEST_F(CorpusTest, PartsOfTheTrainingTextFollowOneAnotherAndShareItsVocabulary) {
  write_ptb("the cat sat\non it\n", "it sat\n", "on the cat\n");
  const Corpus whole = open_corpus(ptb());
  CorpusOptions options = ptb();
  Tokens joined;
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    options.part = parse_part(part);
    const Corpus corpus = open_corpus(options);
    joined.insert(joined.end(), corpus.train->tokens.begin(), corpus.train->tokens.end());
    EXPECT_EQ(corpus.vocabulary, whole.vocabulary);
    EXPECT_EQ(corpus.validation->tokens, whole.validation->tokens);
    EXPECT_EQ(corpus.test->tokens, whole.test->tokens);
    EXPECT_NE(corpus.fingerprint(), whole.fingerprint());
  }
  EXPECT_EQ(joined, whole.train->tokens);
  options.part = {3, 3};  // "on it <eos>"
  EXPECT_EQ(open_corpus(options).train->scored_size, (TextSize{4, 4}));
  options.part = {2, 3};
  options.limit = 2;
  EXPECT_EQ(open_corpus(options).train->tokens, (Tokens{2, 3}));
  options.part = {1, 5};
  expect_error([&] { open_corpus(options); }, ErrorCode::data, {"at least 2 tokens", "data.part"});
}

TEST_F(CorpusTest, PartsOfAFileLeaveValidationAndTestAlone) {
  const Corpus second = open_text("abcdefghijkl", {.part = {2, 2}, .validation = 0.2, .test = 0.2});
  EXPECT_EQ(second.train->tokens, (Tokens{'e', 'f', 'g', 'h'}));
  EXPECT_EQ(second.train->size, (TextSize{4, 4}));
  EXPECT_EQ(second.validation->tokens, (Tokens{'i', 'j'}));
  EXPECT_EQ(second.test->tokens, (Tokens{'k', 'l'}));
}

TEST_F(CorpusTest, ChangedTextHasAnotherFingerprint) {
  write_ptb("the cat\n", "the\n", "cat\n");
  const std::string before = open_corpus(ptb()).fingerprint();
  write_ptb("the cat\n", "the\n", "the\n");
  EXPECT_NE(open_corpus(ptb()).fingerprint(), before);
  write_ptb("the rat\n", "the\n", "rat\n");
  EXPECT_NE(open_corpus(ptb()).fingerprint(), before);
  write_ptb("the cat\n", "the\n", "cat\n");
  EXPECT_EQ(open_corpus(ptb()).fingerprint(), before);
}

TEST_F(CorpusTest, BytesAreTheirOwnNumbersCutIntoTrainingValidationAndTest) {
  std::string text(100, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(200 + i);
  const Corpus corpus = open_text(text);
  EXPECT_EQ(corpus.level, TokenLevel::byte);
  EXPECT_EQ(corpus.vocabulary_size(), 256);
  EXPECT_EQ(corpus.train->tokens.size(), 80u);
  EXPECT_EQ(corpus.train->tokens.front(), 200);
  EXPECT_EQ(corpus.validation->tokens, (Tokens{24, 25, 26, 27, 28, 29, 30, 31, 32, 33}));
  EXPECT_EQ(corpus.test->tokens, (Tokens{34, 35, 36, 37, 38, 39, 40, 41, 42, 43}));
  EXPECT_EQ(corpus.test->size, (TextSize{10, 10}));
  EXPECT_EQ(corpus.test->scored_size, (TextSize{9, 9}));
}

TEST_F(CorpusTest, FractionsOfTextCanBeChosen) {
  const Corpus corpus = open_text(std::string(1000, 'x'), {.validation = 0.25, .test = 0});
  EXPECT_EQ(corpus.train->tokens.size(), 750u);
  EXPECT_EQ(corpus.validation->tokens.size(), 250u);
  EXPECT_EQ(corpus.test, nullptr);
  expect_error([&] { open_text("abc", {.validation = 0.6, .test = 0.4}); }, ErrorCode::usage,
               {"0.6 and 0.4"});
  expect_error([&] { open_text("abc", {.validation = -0.1}); }, ErrorCode::usage, {"-0.1"});
}

TEST_F(CorpusTest, GzippedTextIsExpanded) {
  const std::string text = "To be, or not to be: that is the question.";
  const Corpus plain = open_text(text);
  write_gzip(root_ / "book.txt.gz", text);
  EXPECT_EQ(open_corpus({.name = "text", .root = root_ / "book.txt.gz"}).fingerprint(),
            plain.fingerprint());
}

// `bitcycle data` knows nothing of somebody's own file.
TEST_F(CorpusTest, ADamagedTextOfOnesOwnIsToBePackedAgain) {
  write_gzip(root_ / "book.txt.gz", "To be, or not to be: that is the question.");
  std::filesystem::resize_file(root_ / "book.txt.gz", 20);
  expect_error([&] { open_corpus({.name = "text", .root = root_ / "book.txt.gz"}); },
               ErrorCode::data, {"book.txt.gz is damaged", "| Pack it again"});
}

TEST_F(CorpusTest, TextThatCannotServeIsAnError) {
  expect_error([] { open_corpus({.name = "text"}); }, ErrorCode::usage, {"data.root"});
  expect_error([&] { open_corpus({.name = "text", .root = root_.path()}); }, ErrorCode::data,
               {"found a directory"});
  expect_error([&] { open_corpus({.name = "text", .root = root_ / "none.txt"}); }, ErrorCode::data,
               {"none.txt"});
  expect_error([&] { open_text(""); }, ErrorCode::data, {"book.txt", "an empty file"});
  expect_error([&] { open_text("short"); }, ErrorCode::data, {"book.txt", "at least 2 tokens"});
}

TEST_F(CorpusTest, CheckingComparesWithTheOfficialFilesOrTheSumsBesideThem) {
  write_ptb("the cat\n", "the\n", "cat\n");
  expect_error([&] { check_corpus("ptb", directory_); }, ErrorCode::data,
               {"ptb.train.txt is damaged", "5101618 bytes", "md5sum"});
  std::string sums;
  for (const auto& [name, text] :
       {std::pair("ptb.train.txt", "the cat\n"), std::pair("ptb.valid.txt", "the\n"),
        std::pair("ptb.test.txt", "cat\n")}) {
    sums += md5(std::as_bytes(std::span(std::string_view(text)))) + "  " + name + "\n";
  }
  test::write(directory_ / "MD5SUMS", sums);
  EXPECT_NO_THROW(check_corpus("ptb", directory_));
  test::write(directory_ / "ptb.test.txt", std::string("rat\n"));
  expect_error([&] { open_corpus(ptb()); }, ErrorCode::data, {"ptb.test.txt is damaged", "MD5"});
}

// WikiText-2 and -103 have the same file names.
TEST_F(CorpusTest, TheNameOfTheDirectoryTellsTheWikiTextsApart) {
  for (const char* name : {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"}) {
    test::write(root_ / "wikitext-2" / name, std::string(" = Two = \n"));
    test::write(root_ / "mine" / name, std::string(" = Mine = \n"));
  }
  for (const char* place : {"", "wikitext-2", "wikitext-2/"}) {
    const std::filesystem::path root = root_ / place;
    EXPECT_EQ(open_corpus({.name = "wikitext2", .root = root}).vocabulary.word(1), "Two");
    expect_error([&] { open_corpus({.name = "wikitext103", .root = root}); }, ErrorCode::data,
                 {"wikitext103 was not found"});
  }
  EXPECT_EQ(open_corpus({.name = "wikitext103", .root = root_ / "mine"}).vocabulary.word(1),
            "Mine");
}

}  // namespace
}  // namespace bitcycle
