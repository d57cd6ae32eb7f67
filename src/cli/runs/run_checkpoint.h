#pragma once

// Which of a run's checkpoints the user means.

#include "bitcycle/io/checkpoint.h"
#include "bitcycle/schedule/schedule.h"

#include <filesystem>
#include <string>

namespace bitcycle::cli {

// `word` is best, last, or the number of a step; the best of a run that was never evaluated is its
// last. Throws Error(checkpoint) when there is none.
Step chosen_step(const CheckpointStore& store, const std::string& word,
                 const std::filesystem::path& run);

}  // namespace bitcycle::cli
