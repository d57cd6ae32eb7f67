#include "io/turn.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

namespace bitcycle {

Turn::Turn(const std::filesystem::path& directory)
    : directory_(directory, O_RDONLY | O_DIRECTORY, {"lock", directory}) {
  while (::flock(directory_.fd(), LOCK_EX) == -1 && errno == EINTR) continue;
}

}  // namespace bitcycle
