#pragma once

// The runs that `bitcycle watch` may show: those below one folder, found anew whenever somebody
// asks, since they come and go. A run is named by its path within the folder; whatever leads out
// of it is no run.

#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

// By a recipe: in steps, or where these are 0 in epochs.
struct PlannedLength {
  Step steps = 0;
  double epochs = 0;
};

class WatchedFolder {
 public:
  // A folder of runs, or a run directory itself. Throws Error(usage) when it is neither.
  explicit WatchedFolder(const std::filesystem::path& folder);

  // Names of the runs, sorted; a run directory itself has its own name.
  std::vector<std::string> runs() const;
  // The directory of a run, by its name or what pages are told of it in UTF-8; nothing for names of
  // no run in the folder, links out of it included.
  std::optional<std::filesystem::path> directory(const std::string& name) const;
  // [{"name", "state", "step", "total"}], for the list to choose from.
  nlohmann::ordered_json list() const;

 private:
  std::optional<std::filesystem::path> directory_called(const std::string& name) const;
  PlannedLength length(const std::filesystem::path& run) const;
  // How long the run will be; 0 where that cannot be told (yet).
  Step total_steps(const std::filesystem::path& run) const;

  std::filesystem::path root_;  // canonical
  bool single_ = false;         // whether it is a run directory itself

  // Recipes are read once, and again when they were written again: every page asks for every run.
  struct KnownLength {
    std::filesystem::file_time_type written;
    PlannedLength length;
  };
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, KnownLength> lengths_;
};

// A number that changes when a run's files do.
std::uint64_t state_of_files(const std::filesystem::path& run_directory);

}  // namespace bitcycle::cli
