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

// Where the checkpoint stands: below the `checkpoints` of `home`, which is the run's directory, or
// its folder of averaged weights.
struct ChosenCheckpoint {
  std::filesystem::path home;
  Step step = 0;
};
// The home of what `word` means, whether it is there or not; averaged is a word here too.
std::filesystem::path checkpoint_home(const std::filesystem::path& run, const std::string& word);
// Throws Error(checkpoint) when there is none.
ChosenCheckpoint chosen_checkpoint(const std::filesystem::path& run, const std::string& word);

}  // namespace bitcycle::cli
