#include "bitcycle/report/format.h"

#include "bitcycle/report/precision_text.h"

#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const Metric kAccuracy{"accuracy", MetricForm::percent, Better::higher};
const Metric kLoss{"loss", MetricForm::mean, Better::lower};

TEST(FormatTest, PercentagesHaveOneDecimalAndTheirSign) {
  EXPECT_EQ(percent_text(36.94), "36.9 %");
  EXPECT_EQ(percent_text(-3), "-3.0 %");
  EXPECT_EQ(share_text(1, 8), "12.5 %");
}

TEST(FormatTest, AmountsHaveFourDigits) {
  EXPECT_EQ(amount_text(176512.4), "1.765e+05");
  EXPECT_EQ(amount_text(1.46), "1.460");
  EXPECT_EQ(amount_text(2.15e8), "2.150e+08");
  EXPECT_EQ(amount_text(1863.2), "1863");
  EXPECT_EQ(amount_text(186.32), "186.3");
  EXPECT_EQ(amount_text(0), "0");
}

TEST(FormatTest, FloatIsAWidthOfItsOwn) {
  EXPECT_EQ(bits_text(0), "fp");
  EXPECT_EQ(bits_text(8), "8");
}

TEST(FormatTest, StepsSayOfHowManyWhereThatIsKnown) {
  EXPECT_EQ(steps_text(400, 800), "step 400 of 800");
  EXPECT_EQ(steps_text(400, 0), "step 400");
}

TEST(FormatTest, ScoresHaveTheDigitsOfTheirMetric) {
  EXPECT_EQ(score_text({kAccuracy, 87.523}), "87.52 %");
  EXPECT_EQ(score_text({kLoss, std::numeric_limits<double>::quiet_NaN()}), "not finite");
  EXPECT_EQ(spread_text(kAccuracy, {3, 87.523, 0.31, 0.179}), "87.52 % ± 0.18");
  EXPECT_EQ(spread_text(kLoss, {1, 2.30258, std::nullopt, std::nullopt}), "2.3026");
  EXPECT_EQ(difference_text(kAccuracy, {.value = 0.418, .error = 0.126}), "+0.42 ± 0.13");
  EXPECT_EQ(difference_text(kAccuracy, {.value = -1}), "-1.00");
}

TEST(PrecisionTextTest, SchedulesAreWrittenAsThePapersDo) {
  PrecisionRecipe precision;
  precision.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 4};
  precision.backward = {.min = 8, .max = 8};
  EXPECT_EQ(precision_text(precision), "CR 3-8/8");
  EXPECT_EQ(scheme_text(precision, "integer"), "integer");
  EXPECT_EQ(scheme_text(precision, "simulate"), "sbm");
  EXPECT_EQ(scheme_text(precision, "auto"), "auto");
  precision.scheme = SchemeName::sbm;
  EXPECT_EQ(precision_text(precision), "CR 3-8/8");
  EXPECT_EQ(scheme_note(precision), "");
  precision.scheme = SchemeName::wageubn_lite;
  EXPECT_EQ(precision_text(precision), "CR 3-8/8 wageubn-lite");
  EXPECT_EQ(scheme_note(precision), ", scheme wageubn-lite");
  EXPECT_EQ(scheme_text(precision, "simulate"), "wageubn-lite");
  precision.scheme = SchemeName::automatic;
  precision.weight = ScheduleSpec{.min = 4, .max = 4};
  EXPECT_EQ(precision_text(precision), "static 4w CR 3-8a/8");
}

TEST(PrecisionTextTest, WordsForTheWidthOfAnEvaluationAreResolved) {
  EXPECT_EQ(evaluation_text("max", "8"), "max (8)");
  EXPECT_EQ(evaluation_text("8", "8"), "8");
  EXPECT_EQ(evaluation_text("max", ""), "max");
  PrecisionRecipe precision;
  precision.forward = {.name = "CR", .min = 3, .max = 8, .cycles = 4};
  precision.overrides = {{.layers = "fc", .forward = ScheduleSpec{.min = 6, .max = 6}}};
  const RunLength length{400, 100};
  EXPECT_EQ(evaluation_widths(precision, "max", 1, length), "8");
  EXPECT_EQ(evaluation_widths(precision, "current", 1, length), "3");
  EXPECT_EQ(evaluation_widths(precision, "current", 400, length), "8");
  EXPECT_EQ(evaluation_widths(precision, "max", 1, {0, 1}), "");
  precision.weight = ScheduleSpec{.min = 4, .max = 4};
  EXPECT_EQ(evaluation_widths(precision, "max", 1, length), "4w 8a");
  precision.dynamic.emplace();
  EXPECT_EQ(evaluation_widths(precision, "max", 1, length), "");
}

TEST(PrecisionTextTest, FloatForwardIsFloat) {
  PrecisionRecipe precision;
  precision.forward = {.min = 0, .max = 0};
  EXPECT_EQ(precision_text(precision), "float");
}

// The first half of table 1's runs is quantized.
TEST(PrecisionTextTest, AScheduleThatEndsInFloatIsWrittenOut) {
  PrecisionRecipe precision;
  precision.forward = {.name = "static 4 until 0.5, static fp"};
  precision.backward = {.min = 0, .max = 0};
  EXPECT_EQ(precision_text(precision), "static 4 until 0.5, static fp/fp");
  EXPECT_EQ(scheme_text(precision, "simulate"), "sbm");
}

TEST(PrecisionTextTest, PoliciesAreWrittenWithTheirStagesAndTargets) {
  PrecisionRecipe precision;
  precision.progressive.emplace();
  precision.progressive->forward = {3, 4, 8};
  precision.progressive->backward = {6, 6, 8};
  EXPECT_EQ(precision_text(precision), "PFQ 3-4-8/6-6-8");
  precision.progressive.reset();
  precision.dynamic.emplace();
  precision.dynamic->weight = 4;
  precision.dynamic->target = {2, 2.5};
  EXPECT_EQ(precision_text(precision), "FracTrain 4w cp 2-2.5");
}

TEST(PrecisionTextTest, InFullASchedulesOddNumbersAreTold) {
  EXPECT_EQ(full_schedule_text({.name = "CR", .min = 3, .max = 8, .cycles = 4}), "CR 3-8 x4");
  EXPECT_EQ(full_schedule_text(
                {.name = "RR", .min = 3, .max = 8, .cycles = 8, .beta = 0.5, .start = 0.25}),
            "RR 3-8 x8, beta 0.5, start 0.25");
  EXPECT_EQ(full_schedule_text({.max = 8}), "static 8");
  EXPECT_EQ(full_schedule_text({.name = "CR 3:8 x4"}), "CR 3-8 x4");
  EXPECT_EQ(schedule_text({.name = "3:8"}), "CR 3-8");
  EXPECT_EQ(full_schedule_text({.name = "4 until 0.5, CR 3:8 x4"}), "4 until 0.5, CR 3:8 x4");
}

}  // namespace
}  // namespace bitcycle
