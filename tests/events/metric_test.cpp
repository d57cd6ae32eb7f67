#include "bitcycle/events/metric.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(MetricTest, ValueIsAFormOfTheMean) {
  EXPECT_EQ(Metric{.name = "loss"}.value(9, 4), 2.25);
  EXPECT_EQ((Metric{.name = "accuracy", .form = MetricForm::percent}.value(3, 8)), 37.5);
  const Metric perplexity{.name = "perplexity", .form = MetricForm::exponential};
  EXPECT_NEAR(perplexity.value(7 * std::log(10000.0), 7), 10000.0, 1e-9);
}

TEST(MetricTest, BetterIsHigherOrLowerAndNeverEqualOrNoNumber) {
  const Metric up{.name = "accuracy", .better = Better::higher}, down{.name = "loss"};
  EXPECT_TRUE(up.improves(2, 1) && down.improves(1, 2));
  EXPECT_FALSE(up.improves(1, 2) || down.improves(2, 1));
  EXPECT_FALSE(up.improves(1, 1) || down.improves(1, 1));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(up.improves(nan, 1) || down.improves(nan, 1));
}

TEST(MetricTest, IsShownAsPeopleReadIt) {
  EXPECT_EQ((Metric{.name = "accuracy", .form = MetricForm::percent}.text(87.519)), "87.52 %");
  EXPECT_EQ(Metric{.name = "loss"}.text(2.302585), "2.3026");
  EXPECT_EQ((Metric{.name = "perplexity", .form = MetricForm::exponential}.text(103.449)),
            "103.45");
}

TEST(MetricSumsTest, AddUpByNameInTheOrderOfTheirFirstAppearance) {
  MetricSums sums = {{"loss", 2, 1}};
  sums += {{"accuracy", 3, 8}, {"loss", 1, 1}};
  EXPECT_EQ(sums.entries(), (std::vector<MetricSum>{{"loss", 3, 2}, {"accuracy", 3, 8}}));
}

TEST(TaskMetricsTest, MeasureInTheOrderOfTheSums) {
  const TaskMetrics metrics = {{.name = "accuracy", .form = MetricForm::percent}, {.name = "loss"}};
  const Score score{metrics.measure({{"loss", 3, 2}, {"accuracy", 1, 4}}), 4};
  ASSERT_EQ(score.metrics.size(), 2U);
  EXPECT_EQ(score.metrics[0].metric.name, "loss");
  EXPECT_EQ(score.value("loss"), 1.5);
  EXPECT_EQ(score.value("accuracy"), 25);
  EXPECT_EQ(metrics.primary().name, "accuracy");
  EXPECT_TRUE(score.finite());
  EXPECT_FALSE((Score{metrics.measure({{"loss", 0, 0}})}.finite()));
}

}  // namespace
}  // namespace bitcycle
