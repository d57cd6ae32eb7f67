#include "bitcycle/report/landscape_picture.h"

#include "data/pictures/png.h"
#include "landscape/surfaces.h"
#include "report/landscape/contour_drawing.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using testing::Not;

LandscapePicture picture_of(std::vector<LandscapePanel> panels) {
  return {.levels = {0.1, 0.6, 1.1, 1.6}, .panels = std::move(panels)};
}

double length_of(const ContourLine& line) {
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    sum += std::hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y);
  }
  return sum;
}

TEST(LandscapePicture, SvgHasTitlesLabelsAndAxes) {
  const std::string svg = to_svg(picture_of({{"static", "loss 0", bowl()}, {"cpt", "", bowl()}}));
  for (const char* text : {">static<", ">cpt<", ">loss 0<", ">0.6<", ">1.1<", ">first direction<",
                           ">second direction<", ">-0.5<", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

TEST(LandscapePicture, NamesAreTextAndNoMarkup) {
  const std::string svg = to_svg(picture_of({{"<script>&\"", "", bowl()}}));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(LandscapePicture, PanelsStandSideBySide) {
  const auto width = [](std::size_t panels) {
    const auto bytes = to_png(picture_of(std::vector<LandscapePanel>(panels, {"a", "b", bowl()})));
    return decode_png(bytes, "picture").shape.width;
  };
  EXPECT_GT(width(2), width(1) + 700);  // two pixels to a unit
  EXPECT_EQ(width(3) - width(2), width(2) - width(1));
}

// Colours of the PNG picture, read where the axes say that a point is.
TEST(LandscapePicture, PngIsLowWhereTheSurfaceIsLow) {
  // Low at alpha = 0.5, beta = -0.5: to the right, and below.
  const auto bytes = to_png(picture_of({{"", "", bowl({51, 1}, 0.5, -0.5)}}));
  const Image image = decode_png(bytes, "picture");
  const auto blue_over_red = [&](double alpha, double beta) {
    const int x = static_cast<int>(2 * (64 + 190 * (1 + alpha)));
    const int y = static_cast<int>(2 * (62 + 190 * (1 - beta)));
    const std::size_t at = (static_cast<std::size_t>(y) * image.shape.width + x) * 3;
    return int{image.pixels[at + 2]} - int{image.pixels[at]};
  };
  EXPECT_GT(blue_over_red(0.47, -0.53), 50);
  EXPECT_LT(blue_over_red(-0.9, 0.9), 0);
  EXPECT_LT(blue_over_red(0.5, 0.93), 0);  // mirrored or with its axes swapped it would be low
  EXPECT_LT(blue_over_red(-0.93, -0.5), 0);
}

TEST(LandscapePicture, LettersBeyondAsciiAndValuesBeyondNumbersDoNoHarm) {
  Surface broken = bowl();
  for (std::size_t i = 0; i < 200; ++i) broken.values[i] = NAN;
  const LandscapePicture picture = picture_of({{"größe/日本", "", broken}});
  EXPECT_THAT(to_svg(picture), HasSubstr("größe/日本"));
  EXPECT_THAT(to_svg(picture), Not(HasSubstr("nan")));
  EXPECT_FALSE(to_png(picture).empty());
}

TEST(LandscapePicture, WithoutAContourItIsStillAPicture) {
  Surface flat = bowl();
  for (double& value : flat.values) value = 50;
  EXPECT_THAT(to_svg(picture_of({{"flat", "", flat}})), HasSubstr(">flat<"));
  EXPECT_FALSE(to_png(picture_of({{"flat", "", flat}})).empty());
}

TEST(ContourDrawing, LabelsStandOnTheirContours) {
  const auto contours = draw_contours(bowl(), {0.1, 0.3, 0.6, 5.0}, 380, 10);
  ASSERT_EQ(contours.size(), 3U);  // 5.0 is nowhere
  for (const DrawnContour& contour : contours) {
    ASSERT_EQ(contour.labels.size(), 1U);
    const ContourLabel& label = contour.labels[0];
    EXPECT_EQ(std::stod(label.text), contour.level);
    EXPECT_NEAR(std::hypot(label.place.x, label.place.y), std::sqrt(contour.level), 0.02);
    EXPECT_LE(std::abs(label.angle), std::acos(0.) + 1e-9);
  }
}

TEST(ContourDrawing, LinesAreCutOpenForTheirLabelsAlone) {
  const DrawnContour contour = draw_contours(bowl(), {0.64}, 380, 10).at(0);
  double drawn = 0;
  for (const ContourLine& piece : contour.pieces) drawn += length_of(piece);
  const double gap = 10 * (0.62 * 4 + 0.5) / 190;  // of "0.64", in alpha and beta
  EXPECT_NEAR(drawn, 2 * std::acos(-1.) * 0.8 - gap, 0.01);
}

TEST(ContourDrawing, WhereLinesAreDenseNoLabelCoversAnother) {
  std::vector<double> levels;
  for (int i = 1; i < 40; ++i) levels.push_back(0.03 * i);
  std::vector<PlanePoint> places;
  for (const DrawnContour& contour : draw_contours(bowl(), levels, 380, 10)) {
    for (const ContourLabel& label : contour.labels) places.push_back(label.place);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double apart = std::hypot(places[i].x - places[j].x, places[i].y - places[j].y);
      EXPECT_GT(190 * apart, 30);
    }
  }
}

}  // namespace
}  // namespace bitcycle
