#pragma once

// Which processors this process may use, and how many threads are worth starting on them. An
// affinity mask, a container's quota and hyper-threads all make fewer than the machine has. Read
// from /proc and /sys below `root`, so that tests can make up machines.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

// A physical core, as far as the process may use it.
struct ProcessorCore {
  int id = 0;             // the lowest number of its hyper-threads, usable or not
  std::vector<int> cpus;  // its usable hyper-threads, ascending
  bool operator==(const ProcessorCore&) const = default;
};

// The CPUs in the affinity mask of the calling thread, ascending.
std::vector<int> allowed_cpus();

// "0-2,8" as numbers; nothing when it is no such list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// The cores that `allowed` CPUs belong to, ascending. A CPU whose topology cannot be read counts as
// a core of its own.
std::vector<ProcessorCore> physical_cores(const std::vector<int>& allowed,
                                          const std::filesystem::path& root = "/");

// How many CPUs' time the process's control groups grant it, e.g. 1.5; nothing without a quota.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

// One thread a core, but no more than the quota keeps busy. A fraction counts as a whole thread,
// because rounding down would leave it unused.
int default_threads(std::size_t cores, std::optional<double> quota);

}  // namespace bitcycle
