#pragma once

// Aligned text tables for the terminal: words to the left, numbers to the right.

#include <string>
#include <vector>

namespace bitcycle {

class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add_row(std::vector<std::string> cells);
  // Header, rule and rows, each line ended by a newline. A column whose cells all start like a
  // number is aligned to the right.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace bitcycle
