#pragma once

// Which directories hold runs: one that is named, or those below a folder.

#include "bitcycle/base/error.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace bitcycle::cli {

// Whether a directory has a file that tells of a run, be it the only one left.
bool holds_run(const std::filesystem::path& directory);

// The folder itself, or those of the folders within it, that are wanted, sorted; nothing is looked
// for within them. Links are not followed; folders that vanish meanwhile or cannot be read are
// passed over.
std::vector<std::filesystem::path> find_directories(
    const std::filesystem::path& folder,
    const std::function<bool(const std::filesystem::path&)>& wanted);

// What to say of a folder in which there is none.
Error no_run_in(const std::filesystem::path& folder);

}  // namespace bitcycle::cli
