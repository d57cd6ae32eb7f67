#pragma once

// What `bitcycle landscape` does without LibTorch: says which landscape is meant, finds it where it
// was made before, prints what it came to and draws it.

#include "cli/runs/run_checkpoint.h"
#include "cli/torch_commands.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace bitcycle::cli {

LandscapeSubject landscape_subject(const LandscapeOptions& options,
                                   const RunCheckpoint& checkpoint);

// `home` is that of the checkpoint (runs/run_checkpoint.h). Nothing where it is not stored, or is
// damaged, or of other weights: then it is to be made anew.
std::optional<Landscape> stored_landscape(const std::filesystem::path& home,
                                          const LandscapeSubject& subject);

// Prints a row for each run, and writes the pictures. Landscapes stand in the order of the runs.
int show_landscapes(const LandscapeOptions& options, const std::vector<Landscape>& landscapes);

}  // namespace bitcycle::cli
