#pragma once

// What there is to see of a run, as one JSON value that pages draw: bounded in size whatever the
// run's length, and made of whatever can be read. docs/reports.md describes its members.

#include "report/view/view_options.h"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace bitcycle {

// `name` is what the page calls the run.
nlohmann::ordered_json run_view(const std::filesystem::path& run_directory, const std::string& name,
                                const ViewOptions& options = {});

}  // namespace bitcycle
