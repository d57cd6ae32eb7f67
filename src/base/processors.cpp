#include "bitcycle/base/processors.h"

#include "base/cgroup.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include <sched.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr int kMostCpus = 1 << 16;  // beyond this a number is taken for damage

std::optional<int> parse_cpu(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < 0 || number >= kMostCpus) return std::nullopt;
  return number;
}

std::vector<int> siblings(int cpu, const fs::path& root) {
  const fs::path topology =
      root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
  // The second is the name that kernels before 5.3 have.
  for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {
    const auto line = first_line(topology / name);
    const auto cpus = line ? parse_cpu_list(*line) : std::nullopt;
    if (cpus && std::find(cpus->begin(), cpus->end(), cpu) != cpus->end()) return *cpus;
  }
  return {cpu};
}

// Quota over period; "max" and -1 mean that there is none.
std::optional<double> ratio(const std::string& quota, const std::string& period) {
  std::istringstream text(quota + " " + period);
  double granted = 0, every = 0;
  if (!(text >> granted >> every) || granted <= 0 || every <= 0) return std::nullopt;
  return granted / every;
}

std::optional<double> quota_of(const fs::path& group) {
  if (const auto line = first_line(group / "cpu.max")) return ratio(*line, "");
  const auto quota = first_line(group / "cpu.cfs_quota_us");
  const auto period = first_line(group / "cpu.cfs_period_us");
  return quota && period ? ratio(*quota, *period) : std::nullopt;
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  // The kernel refuses a set that is smaller than its own.
  for (int most = CPU_SETSIZE; most <= kMostCpus; most *= 2) {
    const std::size_t size = CPU_ALLOC_SIZE(most);
    std::vector<cpu_set_t> set(size / sizeof(cpu_set_t) + 1);
    if (sched_getaffinity(0, size, set.data()) != 0) continue;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set.data())) cpus.push_back(cpu);
    }
    break;
  }
  return cpus;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto dash = part.find('-');
    const auto first = parse_cpu(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_cpu(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<ProcessorCore> physical_cores(const std::vector<int>& allowed, const fs::path& root) {
  std::map<int, ProcessorCore> cores;
  for (const int cpu : allowed) {
    const std::vector<int> all = siblings(cpu, root);
    const int id = *std::min_element(all.begin(), all.end());
    cores[id].id = id;
    cores[id].cpus.push_back(cpu);
  }
  std::vector<ProcessorCore> result;
  for (auto& [id, core] : cores) result.push_back(std::move(core));
  return result;
}

std::optional<double> cpu_quota(const fs::path& root) {
  std::optional<double> least;
  for (const fs::path& group : cgroup_directories("cpu", root)) {
    const auto quota = quota_of(group);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

int default_threads(std::size_t cores, std::optional<double> quota) {
  const double most = static_cast<double>(std::max<std::size_t>(cores, 1));
  return static_cast<int>(quota ? std::clamp(std::ceil(*quota), 1.0, most) : most);
}

}  // namespace bitcycle
