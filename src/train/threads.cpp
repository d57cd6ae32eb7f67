#include "bitcycle/train/threads.h"

#include "train/blas_memory.h"

#include <algorithm>
#include <latch>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>
#include <omp.h>
#include <unistd.h>

namespace bitcycle {
namespace {

// Note [Refused for ever]
// LibTorch makes a pool of its own besides OpenMP's threads, at first with a thread for each
// processor of the machine, whatever number it is told. Each of OpenMP's threads makes that pool
// anew at its first tensor, and the old one ends only when the new one stands. Where the system
// refuses a thread (ulimit -u, the tasks of a container), LibTorch waits for it for ever. OpenBLAS
// does likewise with memory (blas_memory.h). So both are asked for here beforehand, and given back;
// reserve_blas_memory has every thread of OpenMP begin, so that no pool is made after it.
class WaitingThreads {
 public:
  ~WaitingThreads() {
    over_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }
  void add() {
    threads_.emplace_back([this] { over_.wait(); });
  }

 private:
  std::latch over_{1};
  std::vector<std::thread> threads_;
};

// Beside the calling thread: LibTorch's first pool and the next one, and OpenMP's.
void require_threads(int count) {
  const int processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  WaitingThreads threads;
  for (int i = std::max(count, processors) - 1 + 2 * (count - 1); i > 0; --i) threads.add();
}

}  // namespace

void use_threads(int threads) {
  const int count = threads > 0 ? threads : omp_get_max_threads();
  require_threads(count);
  at::set_num_threads(count);
  reserve_blas_memory();
}

}  // namespace bitcycle
