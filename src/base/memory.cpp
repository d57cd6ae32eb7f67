#include "bitcycle/base/memory.h"

#include "bitcycle/base/error.h"

#include "base/cgroup.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
// Asking takes some file reads; so little is not worth them.
constexpr std::uint64_t kWorthAsking = std::uint64_t{32} << 20;

// The number after `name` in a file of lines "name number" or "name: number unit".
std::optional<std::uint64_t> entry(const fs::path& file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t value = 0;
    if (words >> key >> value && key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number(const fs::path& file) {
  std::istringstream text(first_line(file).value_or(""));
  std::uint64_t value = 0;
  if (!(text >> value)) return std::nullopt;  // "max", or no such file
  return value;
}

std::uint64_t system_memory(const fs::path& root) {
  const fs::path file = root / "proc/meminfo";
  const auto available = entry(file, "MemAvailable:");
  if (!available) return kUnlimited;
  return (*available + entry(file, "SwapFree:").value_or(0)) * 1024;
}

// A group's use counts the files that it has read, which give way when memory is needed.
std::uint64_t left_by(const fs::path& group) {
  const bool second = fs::exists(group / "memory.max");
  const auto limit = number(group / (second ? "memory.max" : "memory.limit_in_bytes"));
  const auto used = number(group / (second ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !used) return kUnlimited;
  const auto files =
      entry(group / "memory.stat", second ? "inactive_file" : "total_inactive_file").value_or(0);
  const std::uint64_t held = *used - std::min(*used, files);
  return *limit - std::min(*limit, held);
}

std::uint64_t left_by_limit(const fs::path& root) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const auto pages = number(root / "proc/self/statm");
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, pages.value_or(0) * page);
}

}  // namespace

std::uint64_t available_memory(const fs::path& root) {
  std::uint64_t available = std::min(system_memory(root), left_by_limit(root));
  for (const fs::path& group : cgroup_directories("memory", root)) {
    available = std::min(available, left_by(group));
  }
  return available;
}

void require_memory(std::uint64_t bytes, const std::string& what, const std::string& hint) {
  if (bytes < kWorthAsking) return;
  const std::uint64_t available = available_memory();
  if (bytes <= available) return;
  throw Error(ErrorCode::memory,
              fmt::format("{} needs {} of memory, and {} are available", what, readable_size(bytes),
                          readable_size(available)),
              hint);
}

std::string readable_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace bitcycle
