#pragma once

// Which cores the threads of a run are bound to. A thread that wanders, or shares a core with
// another while one is idle, costs more than it does; so each computing thread gets a core. Runs
// side by side must not choose the same ones: a run claims its cores from the system, and what it
// has claimed is free again when its process ends, however it ends.

#include "bitcycle/base/processors.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// Note [Claims]: a claim is a Unix socket bound to an abstract name, which the kernel gives to one
// process at a time, of any user, and takes back when the last descriptor is closed. So there is no
// file to be left behind, forged or forbidden. The descriptor survives exec. Containers with a
// network of their own do not see each other's claims.
class CoreClaim {
 public:
  // Nothing when another process has the core, or claims cannot be made here.
  static std::optional<CoreClaim> of(int core);

  CoreClaim(CoreClaim&& other) noexcept;
  CoreClaim& operator=(CoreClaim&& other) noexcept;
  ~CoreClaim();

 private:
  explicit CoreClaim(int socket) : socket_(socket) {}
  int socket_ = -1;
};

// Claims held, and OMP_PLACES that gives the first threads the claimed cores; the places after them
// are the rest of what the process may use (leave_places goes there too).
struct ThreadPlaces {
  std::vector<CoreClaim> claims;
  std::string omp_places;
};

// A core for each of `threads`; a hyper-thread each when there are more of them than cores. Nothing
// when there are too few that are free: then the system spreads the threads better than we could.
std::optional<ThreadPlaces> claim_places(const std::vector<ProcessorCore>& cores, int threads);

// Lets the calling thread run wherever the process may. Threads inherit the place of the thread
// that starts them, and a helper should not share a core with the one who waits for it.
void leave_places() noexcept;

// Binds the calling thread to the core that OpenMP has for the thread of this number, where it has
// bound them at all: for a forked process, which begins where its parent runs.
void take_place(int thread) noexcept;

}  // namespace bitcycle
