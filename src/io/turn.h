#pragma once

// Processes that read a file of a directory, change it and write it anew take turns, so that none
// loses what another has written.

#include "io/descriptor.h"

namespace bitcycle {

// Waits until nobody else has a turn in the directory, and keeps it as long as it lives. The
// kernel's lock is on the directory itself, so that nothing is left behind. File systems without
// locks have no turns.
class Turn {
 public:
  // Throws Error(io) when the directory cannot be opened.
  explicit Turn(const std::filesystem::path& directory);

 private:
  Descriptor directory_;
};

}  // namespace bitcycle
