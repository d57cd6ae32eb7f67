#include "bitcycle/report/svg_plot.h"

#include <cmath>

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using testing::Not;

// The path of the first curve, as written.
std::string curve(const std::string& svg, const std::string& style) {
  const std::size_t begin = svg.rfind("s0 " + style + "\" d=\"");
  const std::size_t data = svg.find("d=\"", begin) + 3;
  return svg.substr(data, svg.find('"', data) - data);
}

TEST(SvgPlotTest, StepsKeepTheirValueUntilTheNext) {
  const std::string svg = to_svg({"t", "step", "bits", {{"bits", {3, 3, 8, 8}, LineStyle::step}}});
  // The frame runs from x = 56 to 700; the value changes at half of it, and is kept to its end.
  const std::string path = curve(svg, "step");
  EXPECT_THAT(path,
              testing::MatchesRegex("M56.0 [0-9.]+L378.0 [0-9.]+L378.0 [0-9.]+L700.0 [0-9.]+"));
}

TEST(SvgPlotTest, EscapesWhatXmlWouldRead) {
  const std::string svg = to_svg({"a < b & \"c\"", "x", "y", {{"<s>", {1}, LineStyle::line}}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; &quot;c&quot;"));
  EXPECT_THAT(svg, HasSubstr("&lt;s&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("a < b")));
}

TEST(SvgPlotTest, FollowsLightAndDark) {
  EXPECT_THAT(to_svg({"t", "x", "y", {{"s", {1, 2}}}}), HasSubstr("prefers-color-scheme: dark"));
}

TEST(SvgPlotTest, MarksWholeLevels) {
  const std::string svg = to_svg({"t", "x", "y", {{"s", {3, 8}}}});
  for (int level = 3; level <= 8; ++level) {
    EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\">" + std::to_string(level) + "</text>"));
  }
}

TEST(SvgPlotTest, AConstantAndASinglePointAreDrawn) {
  for (const std::vector<double>& values : {std::vector<double>{8}, std::vector<double>(50, 8)}) {
    const std::string svg = to_svg({"t", "x", "y", {{"s", values, LineStyle::step}}});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(curve(svg, "step"), HasSubstr("L700.0"));
  }
}

TEST(SvgPlotTest, ALongRunMakesASmallFile) {
  std::vector<double> values;
  for (int i = 0; i < 600000; ++i) values.push_back(5.5 + 2.5 * std::sin(i * 1e-4));
  EXPECT_LT(to_svg({"t", "x", "y", {{"s", values}}}).size(), 100000U);
}

}  // namespace
}  // namespace bitcycle
