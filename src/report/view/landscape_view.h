#pragma once

// The landscapes that `bitcycle landscape` stored with a run, as a page draws them: contours that
// are cut open for their labels, and the losses to read off.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

// A list, empty where there are none; files that cannot be read leave a notice.
nlohmann::ordered_json landscape_views(const std::filesystem::path& run_directory,
                                       std::vector<std::string>& notices);

}  // namespace bitcycle
