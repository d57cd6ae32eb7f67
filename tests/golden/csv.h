#pragma once

// Reads the tables of expected values in tests/golden.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {

using CsvRow = std::map<std::string, std::string>;  // by the names in the file's first line

inline std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line);
  for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
  return cells;
}

// `name` is relative to tests/golden.
inline std::vector<CsvRow> golden_rows(const std::string& name) {
  std::ifstream file(std::filesystem::path(BITCYCLE_SOURCE_DIR) / "tests" / "golden" / name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = csv_cells(line);
  std::vector<CsvRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = csv_cells(line);
    CsvRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells.at(i);
  }
  EXPECT_GT(rows.size(), 0U) << name;
  return rows;
}

inline double number(const CsvRow& row, const std::string& name) {
  return std::stod(row.at(name));
}

// Programs in double agree with the expected values to a relative 1e-12.
inline void expect_golden(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-12 * std::abs(expected));
}

}  // namespace bitcycle
