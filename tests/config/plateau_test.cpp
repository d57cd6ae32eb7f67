#include "bitcycle/config/plateau.h"

#include "golden/csv.h"

#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// lr 20, divided by 4; a loss that equals the best is no improvement, a gain of 1e-6 is one.
TEST(PlateauTest, DividesTheRateAfterEveryEvaluationWithoutImprovement) {
  PlateauState state;
  for (const CsvRow& row : golden_rows("optim/plateau.csv")) {
    SCOPED_TRACE(row.at("epoch"));
    expect_golden(20 * state.factor, number(row, "lr_used"));
    const std::optional<double> best = state.best;
    state.observe(number(row, "validation_loss"), 0.25);
    EXPECT_EQ(state.best != best, row.at("new_best") == "1");
    expect_golden(20 * state.factor, number(row, "lr_after"));
  }
}

// PyTorch's has a threshold: they part at the first gain that is smaller than 1e-4 of the best
// loss.
TEST(PlateauTest, IsPyTorchsUntilAGainIsBelowItsThreshold) {
  PlateauState state;
  for (const CsvRow& row : golden_rows("optim/plateau.csv")) {
    SCOPED_TRACE(row.at("epoch"));
    expect_golden(20 * state.factor, number(row, "torch_plateau_lr_used"));
    const double loss = number(row, "validation_loss"), best = state.best.value_or(1e9);
    state.observe(loss, 0.25);
    if (loss < best && loss >= best * (1 - 1e-4)) {
      return expect_golden(20 * state.factor / 4, number(row, "torch_plateau_lr_after"));
    }
    expect_golden(20 * state.factor, number(row, "torch_plateau_lr_after"));
  }
  FAIL() << "there is no such gain";
}

TEST(PlateauTest, ARestoredStateGoesOnAsTheFirstWould) {
  PlateauState first;
  first.observe(3, 0.5);
  first.observe(4, 0.5);
  PlateauState restored{.best = first.best, .factor = first.factor};
  EXPECT_EQ(restored, (PlateauState{.best = 3, .factor = 0.5}));
  for (PlateauState* state : {&first, &restored}) state->observe(3, 0.5);
  EXPECT_EQ(first, restored);
  EXPECT_EQ(restored.factor, 0.25);
}

// A loss that is not a number is nobody's best, also where it comes first.
TEST(PlateauTest, LossesThatAreNotFiniteAreNoImprovement) {
  for (const double loss :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    PlateauState state;
    state.observe(loss, 0.25);
    EXPECT_EQ(state, (PlateauState{.best = std::nullopt, .factor = 0.25}));
    state.observe(7, 0.25);
    state.observe(loss, 0.25);
    EXPECT_EQ(state, (PlateauState{.best = 7, .factor = 0.0625}));
  }
}

}  // namespace
}  // namespace bitcycle
