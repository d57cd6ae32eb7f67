#include "cli/predict/predictions.h"

#include "data/support.h"

#include <limits>

namespace bitcycle::cli {
namespace {

std::string line(const std::vector<double>& probabilities, const std::vector<std::string>& names,
                 int top) {
  return to_line({"a.png", best_guesses(probabilities, names, top)});
}

TEST(PredictionsTest, TheMostProbableComeFirst) {
  EXPECT_EQ(line({0.25, 0.125, 0.5, 0.125}, {"a", "b", "c", "d"}, 3),
            "a.png: c 50.0 %, a 25.0 %, b 12.5 %\n");
}

TEST(PredictionsTest, ThereAreNoMoreThanClasses) {
  EXPECT_EQ(line({0.25, 0.75}, {"a", "b"}, 3), "a.png: b 75.0 %, a 25.0 %\n");
}

TEST(PredictionsTest, WithoutANameTheNumberCounts) {
  EXPECT_EQ(line({0.25, 0.75}, {"a"}, 2), "a.png: 1 75.0 %, a 25.0 %\n");
}

// The nearest counts, and what is called like no class does not.
TEST(PredictionsTest, FoldersCalledLikeAClassGiveAScore) {
  const std::vector<std::string> names = {"cat", "dog"};
  FolderScore score(names);
  EXPECT_EQ(score.text(), "");
  const auto add = [&](const char* picture, double cat) {
    score.add({picture, best_guesses({cat, 1 - cat}, names, 1)});
  };
  add("new/cat/1.png", 0.75);
  EXPECT_EQ(score.text(),
            "1 of 1 picture in folders called like a class is taken for it (100.0 %)\n");
  add("new/cat/2.png", 0.25);
  add("cat/dog/deep/1.png", 0.25);
  add("new/emu/1.png", 0.75);
  add("1.png", 0.75);
  EXPECT_EQ(score.text(),
            "2 of 3 pictures in folders called like a class are taken for it (66.7 %)\n");
  EXPECT_EQ(score.json()["pictures"], 3);
  EXPECT_EQ(score.json()["right"], 2);
}

TEST(PredictionsTest, NamesCannotMoveTheCursor) {
  EXPECT_EQ(line({1}, {"\x1b[2J"}, 1), "a.png: \\x1b[2J 100.0 %\n");
}

TEST(PredictionsTest, AnAnswerThatIsNotFiniteIsNone) {
  test::expect_error(
      [] {
        best_guesses({0.5, std::numeric_limits<double>::quiet_NaN()}, {}, 2);
      },
      ErrorCode::diverged, {"not finite"});
}

}  // namespace
}  // namespace bitcycle::cli
