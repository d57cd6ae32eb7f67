#include "bitcycle/report/text_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// A cell of the plot is the set of its edges that the line crosses.
enum Edge : unsigned { kLeft = 1, kRight = 2, kUp = 4, kDown = 8 };
using Cell = unsigned;

constexpr std::array<std::string_view, 16> kUnicode = {" ", "╴", "╶", "─", "╵", "╯", "╰", "┴",
                                                       "╷", "╮", "╭", "┬", "│", "┤", "├", "┼"};
constexpr std::array<std::string_view, 16> kAscii = {" ", "-", "-", "-", "|", "+", "+", "+",
                                                     "|", "+", "+", "+", "|", "+", "+", "+"};

// Levels on rows: row 0 is the lowest.
class Axis {
 public:
  Axis(std::span<const int> values, int max_rows) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
    rows_ = std::min(high_ - low_ + 1, std::max(2, max_rows));
  }
  int rows() const { return rows_; }
  int row(int value) const { return rescale(value - low_, high_ - low_, rows_ - 1); }
  int level(int row) const { return low_ + rescale(row, rows_ - 1, high_ - low_); }

 private:
  static int rescale(int x, int from, int to) {
    return from == 0 ? 0 : static_cast<int>(std::lround(static_cast<double>(x) * to / from));
  }
  int low_, high_, rows_;
};

// One column's line: comes in at row `enter`, visits `low` to `high`, leaves at `leave`.
void draw(std::vector<Cell>& column, int enter, int leave, int low, int high) {
  for (int row = low; row <= high; ++row) {
    if (row > low) column[row] |= kDown;
    if (row < high) column[row] |= kUp;
  }
  column[enter] |= kLeft;
  column[leave] |= kRight;
}

std::vector<std::vector<Cell>> draw_all(std::span<const int> values, const Axis& axis,
                                        std::size_t columns) {
  std::vector<std::vector<Cell>> cells(columns, std::vector<Cell>(axis.rows()));
  int enter = axis.row(values.front());
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * values.size() / columns, end = (c + 1) * values.size() / columns;
    int low = enter, high = enter, leave = enter;
    for (int value : values.subspan(begin, end - begin)) {
      leave = axis.row(value);
      low = std::min(low, leave);
      high = std::max(high, leave);
    }
    draw(cells[c], enter, leave, low, high);
    enter = leave;
  }
  return cells;
}

// The rows of a plot, each with the label of its level.
template <typename Label>
std::string plotted(std::span<const int> values, const Axis& axis, const TextPlotOptions& options,
                    const Label& label_of) {
  const auto columns =
      std::min(static_cast<std::size_t>(std::max(1, options.columns)), values.size());
  const auto cells = draw_all(values, axis, columns);
  const bool unicode = options.charset == Charset::unicode;
  const auto& shapes = unicode ? kUnicode : kAscii;
  std::size_t label_width = 0;
  for (int row = 0; row < axis.rows(); ++row) {
    label_width = std::max(label_width, label_of(axis.level(row)).size());
  }
  std::string text;
  for (int row = axis.rows() - 1; row >= 0; --row) {
    const std::string label = label_of(axis.level(row));
    std::string line = std::string(label_width - label.size(), ' ') + label;
    line += unicode ? " ┤" : " |";
    for (const auto& column : cells) line += shapes[column[static_cast<std::size_t>(row)]];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

Charset terminal_charset() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool utf8 = locale.find("utf-8") != locale.npos || locale.find("utf8") != locale.npos;
    return utf8 ? Charset::unicode : Charset::ascii;
  }
  return Charset::ascii;
}

std::string text_plot(std::span<const int> values, const TextPlotOptions& options) {
  if (values.empty()) return "";
  const Axis axis(values, options.max_rows);
  return plotted(values, axis, options, [](int level) { return std::to_string(level); });
}

std::string text_plot(std::span<const double> values, const TextPlotOptions& options) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite),
                       [](double x) { return std::isfinite(x); });
  if (finite.empty()) return "";
  const auto [low, high] = std::ranges::minmax(finite);
  const int top = low == high ? 0 : std::max(2, options.max_rows) - 1;
  const double step = low == high ? 1 : (high - low) / top;
  std::vector<int> levels;
  for (const double x : finite) levels.push_back(static_cast<int>(std::lround((x - low) / step)));
  return plotted(levels, Axis(levels, options.max_rows), options,
                 [&, low = low](int level) { return fmt::format("{:.4g}", low + step * level); });
}

}  // namespace bitcycle
