#include "report/view/point_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

PointSeries waves(int count) {
  PointSeries series;
  for (int i = 0; i < count; ++i) series.add(i, std::sin(i * 0.37));
  return series;
}

TEST(PointSeriesTest, FewPointsAreLeftAlone) {
  const PointSeries series = waves(50);
  EXPECT_EQ(thinned(series, 50).y, series.y);
}

TEST(PointSeriesTest, ThinningKeepsEndsPeaksAndOrder) {
  PointSeries series = waves(64'000);
  series.y[12'345] = 9;
  series.y[54'321] = -9;
  const PointSeries thin = thinned(series, 500);
  EXPECT_LE(thin.x.size(), 500U);
  EXPECT_GE(thin.x.size(), 400U);
  EXPECT_EQ(thin.x.front(), 0);
  EXPECT_EQ(thin.x.back(), 63'999);
  EXPECT_TRUE(std::ranges::is_sorted(thin.x));
  EXPECT_EQ(thin.x[static_cast<std::size_t>(std::ranges::max_element(thin.y) - thin.y.begin())],
            12'345);
  EXPECT_EQ(thin.x[static_cast<std::size_t>(std::ranges::min_element(thin.y) - thin.y.begin())],
            54'321);
  for (std::size_t i = 0; i < thin.x.size(); ++i) {
    EXPECT_EQ(thin.y[i], series.y[static_cast<std::size_t>(thin.x[i])]) << "a point of the series";
  }
}

TEST(PointSeriesTest, JsonTellsHowManyPointsThereWereWhereSomeAreLeftOut) {
  EXPECT_EQ(to_json(thinned(waves(64'000), 500))["of"], 64'000);
  EXPECT_FALSE(to_json(thinned(waves(500), 500)).contains("of"));
}

TEST(PointSeriesTest, GapsDoNotHidePeaks) {
  PointSeries series = waves(1000);
  for (int i = 0; i < 1000; i += 2) series.y[i] = std::numeric_limits<double>::quiet_NaN();
  series.y[501] = 7;
  const PointSeries thin = thinned(series, 40);
  EXPECT_TRUE(std::ranges::count(thin.y, 7) == 1);
}

TEST(PointSeriesTest, ChangesAreTheSameStepFunction) {
  PointSeries series;
  for (int i = 1; i <= 1000; ++i) series.add(i, i < 300 ? 3 : i < 301 ? 8 : 5);
  const PointSeries changes = changes_of(series, 100);
  EXPECT_EQ(changes.x, (std::vector<double>{1, 300, 301, 1000}));
  EXPECT_EQ(changes.y, (std::vector<double>{3, 8, 5, 5}));
}

TEST(PointSeriesTest, JsonHasWholeNumbersAsSuchAndGapsAsNull) {
  const PointSeries series{{1, 2, 3}, {8, std::numeric_limits<double>::infinity(), 0.123456789}};
  EXPECT_EQ(to_json(series).dump(), R"({"x":[1,2,3],"y":[8,null,0.1234568]})");
}

}  // namespace
}  // namespace bitcycle
