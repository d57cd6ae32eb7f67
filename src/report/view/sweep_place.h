#pragma once

// What the sweep that a run belongs to says of it: which cells differ from it in the seed alone,
// and what they are held against. A sweep keeps this in sweep.json, beside its cells.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

// {"name", "group", "baseline"}: the sweep by its directory, then names of groups. Null of a run
// that is no cell of a sweep; a sweep.json that cannot be read leaves a notice.
nlohmann::ordered_json sweep_place(const std::filesystem::path& run_directory,
                                   std::vector<std::string>& notices);

}  // namespace bitcycle
