#include "cli/runs/find_runs.h"

#include "io/is_there.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;               // folders within folders, as sweeps make them
constexpr std::size_t kMostFound = 2000;  // of which a list still helps

struct Search {
  const std::function<bool(const fs::path&)>& wanted;
  std::vector<fs::path> found;

  void look(const fs::path& folder, int depth) {
    if (wanted(folder)) return found.push_back(folder);
    if (depth == 0) return;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end;
         !error && entry != end && found.size() < kMostFound; entry.increment(error)) {
      std::error_code ignored;
      const bool own = !entry->is_symlink(ignored) && entry->is_directory(ignored);
      if (own) look(entry->path(), depth - 1);
    }
  }
};

}  // namespace

bool holds_run(const fs::path& directory) {
  constexpr std::array kFiles = {"recipe.toml", "metrics.jsonl", "summary.json", "timing.jsonl",
                                 "layers.jsonl"};
  return std::ranges::any_of(kFiles, [&](const char* file) { return is_there(directory / file); });
}

std::vector<fs::path> find_directories(const fs::path& folder,
                                       const std::function<bool(const fs::path&)>& wanted) {
  Search search{wanted, {}};
  search.look(folder, kDeepest);
  std::ranges::sort(search.found);
  return std::move(search.found);
}

Error no_run_in(const fs::path& folder) {
  const std::string name = fmt::format("\"{}\"", folder.string());
  const std::string hint = "Run directories are made by `bitcycle train` (below runs/ by default).";
  if (!is_there(folder)) return {ErrorCode::usage, "there is no run directory " + name, hint};
  return {ErrorCode::usage,
          name + " is no run directory, and no folder of any: there is no recipe.toml", hint};
}

}  // namespace bitcycle::cli
