#pragma once

// One trainer a run directory. The lock is the kernel's (flock), so it goes with the process,
// however that ends, and no stale lock file ever needs removing.

#include <filesystem>
#include <memory>

namespace bitcycle {

class RunLock {
 public:
  // Creates the directory when it is missing, and locks it. Throws Error(usage) that names the
  // process which holds the lock, or Error(io) when the directory cannot be written.
  explicit RunLock(const std::filesystem::path& run_directory);
  RunLock(RunLock&&) noexcept;
  RunLock& operator=(RunLock&&) noexcept;
  ~RunLock();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Whether a process trains in a directory, by what its lock file says: for those who only look, and
// must not hold the lock for the moment in which a trainer wants it.
bool is_in_use(const std::filesystem::path& run_directory);

}  // namespace bitcycle
