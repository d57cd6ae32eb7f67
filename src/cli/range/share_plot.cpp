#include "cli/range/share_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

constexpr int kColumns = 61;  // from a share of 0 to one of 1.2
constexpr double kMostShare = 1.2;

struct Marks {
  std::string axis, blank, whisker, share, threshold;
};

Marks marks_of(Charset charset) {
  if (charset == Charset::ascii) return {"|", " ", "-", "o", ":"};
  return {"┤", " ", "─", "●", "┊"};
}

int column_of(double share) {
  const double place = std::clamp(share, 0.0, kMostShare) / kMostShare * (kColumns - 1);
  return static_cast<int>(std::lround(place));
}

std::string row(const RangeTest::Result& result, double threshold, const Marks& marks) {
  const auto& [value, error] = result.found.share;
  const int centre = column_of(value);
  const int first = column_of(value - 2 * error), last = column_of(value + 2 * error);
  std::string text = fmt::format("{:>4} {}", result.bits, marks.axis);
  for (int i = 0; i < kColumns; ++i) {
    text += i == centre                 ? marks.share
            : i == column_of(threshold) ? marks.threshold
            : i >= first && i <= last   ? marks.whisker
                                        : marks.blank;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string share_plot(const std::vector<RangeTest::Result>& results, double threshold,
                       Charset charset) {
  std::string text;
  for (const RangeTest::Result& result : results) {
    text += row(result, threshold, marks_of(charset));
  }
  std::string axis(static_cast<std::size_t>(kColumns), ' ');
  for (const double share : {0.0, threshold, 1.0}) {
    const std::string label = fmt::format("{:.2g}", share);
    axis.replace(static_cast<std::size_t>(column_of(share)), label.size(), label);
  }
  axis.erase(axis.find_last_not_of(' ') + 1);
  return text + "      " + axis + "\n";
}

}  // namespace bitcycle::cli
