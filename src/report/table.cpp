#include "bitcycle/report/table.h"

#include "report/printable.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace bitcycle {
namespace {

constexpr std::string_view kGap = "  ";

// Columns that a UTF-8 text takes on the screen, one a code point (no wide characters are used).
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// An optional sign, then a digit; "-" and "" stand for a missing number.
bool numeric(std::string_view cell) {
  if (cell.empty() || cell == "-") return true;
  const std::size_t first = cell.front() == '-' || cell.front() == '+' ? 1 : 0;
  return first < cell.size() && is_digit(cell[first]);
}

std::string padded(const std::string& cell, std::size_t columns, bool right) {
  const std::string space(columns - width(cell), ' ');
  return right ? space + cell : cell + space;
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::add_row(std::vector<std::string> cells) {
  assert(cells.size() == rows_.front().size());
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (std::size_t c = 0; c < columns; ++c) {
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c]));
    right[c] = right[c] && std::all_of(rows_.begin() + 1, rows_.end(),
                                       [c](const auto& row) { return numeric(row[c]); });
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line, rule;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string_view gap = c == 0 ? "" : kGap;
      line.append(gap) += padded(rows_[r][c], widths[c], right[c]);
      rule.append(gap) += std::string(widths[c], '-');
    }
    append_line(text, std::move(line));
    if (r == 0) append_line(text, std::move(rule));
  }
  return text;
}

}  // namespace bitcycle
