#pragma once

// Which of a run's checkpoints the user means.

#include "bitcycle/io/checkpoint.h"
#include "bitcycle/schedule/schedule.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace bitcycle::cli {

// A checkpoint that was read. It stands, or stood (Note [Checkpoints that vanish]), below the
// `checkpoints` of `home`, which is the run's directory, or its folder of averaged weights.
struct RunCheckpoint {
  std::filesystem::path home;
  Step step = 0;
  CheckpointFiles files;

  // Where one of its files stands, and what is in it; nothing where it has no such file.
  std::filesystem::path path(const std::string& file) const;
  std::span<const std::byte> bytes(const std::string& file) const;
};

// The home of what `word` means, whether it is there or not.
std::filesystem::path checkpoint_home(const std::filesystem::path& run, const std::string& word);

// `word` is best, last, averaged, or the number of a step; the best of a run that was never
// evaluated is its last. Throws Error(checkpoint) when there is none, or it is damaged.
RunCheckpoint read_checkpoint(const std::filesystem::path& run, const std::string& word);

}  // namespace bitcycle::cli
