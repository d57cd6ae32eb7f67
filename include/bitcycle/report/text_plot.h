#pragma once

// A step plot for the terminal; of whole numbers with one row a level where they fit:
//
//   8 ┤      ╭╮
//   7 ┤    ╭─╯│
//   6 ┤  ╭─╯  │
//   5 ┼──╯    ╰─
//
// Columns stand for equal shares of the steps. A column in which the value moves shows the whole
// way it goes, so narrow peaks are never lost.

#include <span>
#include <string>

namespace bitcycle {

enum class Charset { unicode, ascii };

// Unicode when the environment's locale is UTF-8 (LC_ALL, LC_CTYPE, LANG: the first that is set).
Charset terminal_charset();

struct TextPlotOptions {
  int columns = 64;   // at most so many, and no more than there are values
  int max_rows = 12;  // with more levels than this, a row stands for several
  Charset charset = Charset::unicode;
};

// The rows, highest first, each ended by a newline; "" without values.
std::string text_plot(std::span<const int> values, const TextPlotOptions& options = {});
// The same of any numbers, with max_rows rows from the lowest to the highest. What is not finite is
// left out.
std::string text_plot(std::span<const double> values, const TextPlotOptions& options = {});

}  // namespace bitcycle
