#include "bitcycle/landscape/contour.h"

#include "landscape/surfaces.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using std::numbers::pi;
using testing::DoubleNear;

// Twice the area, by the shoelace formula; positive counter-clockwise.
double doubled_area(const ContourLine& line) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    sum += line[i].x * line[i + 1].y - line[i + 1].x * line[i].y;
  }
  return sum;
}

TEST(PlaneGrid, IsSymmetricWithItsMiddleAtZero) {
  for (const int points : {3, 5, 51, 101}) {
    const PlaneGrid grid{points, 0.7};
    EXPECT_EQ(grid.at(points / 2), 0);
    EXPECT_DOUBLE_EQ(grid.at(points - 1), 0.7);
    for (int i = 0; i < points; ++i) EXPECT_EQ(grid.at(i), -grid.at(points - 1 - i));
  }
}

TEST(Contour, OfABowlIsACircle) {
  const auto lines = contour_lines(bowl(), 0.49);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].front(), lines[0].back());
  for (const PlanePoint& point : lines[0]) EXPECT_NEAR(std::hypot(point.x, point.y), 0.7, 5e-4);
}

TEST(Contour, AreaOfACircleIsThatOfTheFormula) {
  for (const double radius : {0.2, 0.5, 0.9}) {
    EXPECT_NEAR(area_below(bowl(), radius * radius), pi * radius * radius, 3e-3) << radius;
  }
}

// Linear sides leave an error of the second order: half the distance, a quarter of the error.
TEST(Contour, AreaIsExactToTheSecondOrder) {
  const double exact = pi * 0.36;
  const double coarse = exact - area_below(bowl({21, 1}), 0.36);
  const double fine = exact - area_below(bowl({41, 1}), 0.36);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
}

TEST(Contour, AreaOfAnEllipseThatIsNoCircle) {
  const Surface surface =
      surface_of({101, 2}, [](double a, double b) { return a * a / 4 + b * b / 0.25; });
  EXPECT_NEAR(area_below(surface, 0.81), pi * 1.8 * 0.45, 5e-3);
}

// alpha goes along x: what is wide in alpha is wide in x.
TEST(Contour, AxesAreNotSwapped) {
  const Surface surface =
      surface_of({51, 1}, [](double a, double b) { return a * a / 0.64 + b * b / 0.04; });
  double widest = 0, highest = 0;
  const auto lines = contour_lines(surface, 1);
  ASSERT_EQ(lines.size(), 1U);
  for (const PlanePoint& point : lines[0]) {
    widest = std::max(widest, point.x);
    highest = std::max(highest, point.y);
  }
  EXPECT_NEAR(widest, 0.8, 0.01);
  EXPECT_NEAR(highest, 0.2, 0.01);
}

TEST(Contour, OfAPlaneIsExactWhereverItCuts) {
  const Surface plane = surface_of({5, 1}, [](double a, double b) { return a + 2 * b; });
  for (const double level : {-1.3, 0., 0.4, 2.9}) {
    for (const ContourLine& line : contour_lines(plane, level)) {
      for (const PlanePoint& point : line) EXPECT_NEAR(point.x + 2 * point.y, level, 1e-12);
    }
  }
  // {a + 2 b < 0.4}: x <= 1 throughout, b < (0.4 - a) / 2: 2 x 1 below 0, and the mean height 0.2.
  EXPECT_NEAR(area_below(plane, 0.4), 2 * (1 + 0.2), 1e-12);
}

TEST(Contour, ALineEndsAtTheEdgeAndTheOutlineCloses) {
  const Surface plane = surface_of({7, 1}, [](double a, double) { return a; });
  const auto lines = contour_lines(plane, 0.25);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NEAR(std::abs(lines[0].front().y), 1, 1e-12);
  EXPECT_NEAR(std::abs(lines[0].back().y), 1, 1e-12);
  const auto outlines = outline_below(plane, 0.25);
  ASSERT_EQ(outlines.size(), 1U);
  EXPECT_EQ(outlines[0].front(), outlines[0].back());
  EXPECT_NEAR(doubled_area(outlines[0]) / 2, 2 * 1.25, 1e-12);
}

TEST(Contour, LowGroundLiesOnTheLeft) {
  EXPECT_GT(doubled_area(contour_lines(bowl(), 0.25).at(0)), 0);
  const Surface hill = surface_of({51, 1}, [](double a, double b) { return -a * a - b * b; });
  EXPECT_LT(doubled_area(contour_lines(hill, -0.25).at(0)), 0);
}

TEST(Contour, AHoleIsTakenOutOfTheArea) {
  // Low in the ring 0.3 < r < 0.8.
  const Surface ring = surface_of({201, 1}, [](double a, double b) {
    const double r = std::hypot(a, b);
    return (r - 0.3) * (r - 0.8);
  });
  EXPECT_EQ(outline_below(ring, 0).size(), 2U);
  EXPECT_NEAR(area_below(ring, 0), pi * (0.64 - 0.09), 2e-3);
}

TEST(Contour, EverythingOrNothingBelow) {
  EXPECT_EQ(area_below(bowl(), -1), 0);
  EXPECT_TRUE(contour_lines(bowl(), -1).empty());
  EXPECT_NEAR(area_below(bowl(), 100), 4, 1e-12);
  EXPECT_TRUE(contour_lines(bowl(), 100).empty());
}

TEST(Contour, BothDiagonalsOfASaddleAreCutByTheMean) {
  // Low at two opposite corners of one cell, in the middle of nothing.
  Surface saddle{{3, 1}, {0, 1, 1, 1, 0, 1, 1, 1, 1}};
  EXPECT_EQ(contour_lines(saddle, 0.4).size(), 2U);  // the mean is 0.5: two corners
  EXPECT_EQ(outline_below(saddle, 0.6).size(), 1U);  // one ground that joins them
  const double low = area_below(saddle, 0.4), joined = area_below(saddle, 0.6);
  EXPECT_LT(low, joined);
}

// Whatever the values: every line is closed or ends at the edge, and areas of a level and of what
// lies above it make up the square.
TEST(Contour, LinesAreWholeAndAreasComplementaryOnAnySurface) {
  unsigned state = 1;
  const auto draw = [&] { return (state = state * 1664525U + 1013904223U) / 4294967296.0; };
  for (int trial = 0; trial < 50; ++trial) {
    const Surface any = surface_of({9, 1}, [&](double, double) { return draw(); });
    Surface turned = any;
    for (double& value : turned.values) value = -value;
    for (const ContourLine& line : contour_lines(any, 0.5)) {
      const auto on_edge = [](const PlanePoint& p) {
        return std::abs(p.x) > 1 - 1e-12 || std::abs(p.y) > 1 - 1e-12;
      };
      EXPECT_TRUE(line.front() == line.back() || (on_edge(line.front()) && on_edge(line.back())));
    }
    // Saddles are cut the same way from both sides, unless their mean is the level itself.
    EXPECT_NEAR(area_below(any, 0.5) + area_below(turned, -0.5), 4, 1e-9);
  }
}

TEST(Contour, WhatIsNotFiniteIsAboveEveryLevel) {
  Surface broken = bowl({51, 1});
  broken.values[0] = std::numeric_limits<double>::quiet_NaN();
  broken.values[1] = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(area_below(broken, 0.25), pi * 0.25, 3e-3);
  const double all = area_below(broken, 100);
  EXPECT_LT(all, 4);
  EXPECT_GT(all, 4 - 4 * 0.04 * 0.04);
  EXPECT_EQ(value_range(broken).most, 2);
}

TEST(Contour, SaysWhetherLowGroundIsCutOff) {
  EXPECT_FALSE(reaches_edge(bowl(), 0.9));
  EXPECT_TRUE(reaches_edge(bowl(), 1.01));
  EXPECT_TRUE(reaches_edge(bowl({51, 1}, 0.8), 0.25));
}

TEST(Contour, LevelsAreThoseOfThePapers) {
  const auto levels = levels_of({});
  EXPECT_EQ(levels.size(), 20U);
  EXPECT_THAT(levels, testing::Contains(DoubleNear(1.1, 1e-12)));
  EXPECT_NEAR(levels.back(), 9.6, 1e-12);
}

}  // namespace
}  // namespace bitcycle
