#pragma once

// sweep.json, what a sweep's directory knows of its cells besides what stands in their run
// directories: which belong together, and why one failed.

#include "cli/compare/comparison.h"

#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct CellRecord {
  std::string name;             // its run directory in that of the sweep
  std::string group, baseline;  // names of groups
  std::string failure;          // why its last try failed; empty: it did not
};

struct SweepRecord {
  std::string sweep;  // what the sweep is called
  std::vector<CellRecord> cells;
};

bool is_sweep(const std::filesystem::path& directory);

// Throws Error(io) when the file is damaged.
SweepRecord read_sweep_record(const std::filesystem::path& sweep_directory);
// Writes the cells and what they came to, and table.txt, the same for people.
void write_sweep_record(const std::filesystem::path& sweep_directory, const SweepRecord& record);

// The cells' runs as they stand.
std::vector<ComparedRun> sweep_runs(const std::filesystem::path& sweep_directory,
                                    const SweepRecord& record);
// The same compared. The table is of a sweep with one cell or more.
Comparison compare_sweep(const std::filesystem::path& sweep_directory, const SweepRecord& record);

}  // namespace bitcycle::cli
