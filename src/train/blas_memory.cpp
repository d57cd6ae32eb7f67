#include "train/blas_memory.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/quant/torch.h"

#include "quant/single_thread.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <sys/mman.h>

namespace bitcycle {
namespace {

constexpr std::size_t kPerThread = std::size_t{130} << 20;  // OpenBLAS's 128 MiB, and its alignment
// Room for what comes after: oneDNN 3.6 uses memory for its code that it was refused.
constexpr std::size_t kBesides = std::size_t{512} << 20;

// Asks as OpenBLAS does: for address space, most of which it never touches.
bool is_granted(std::size_t bytes) {
  void* space = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED) return false;
  ::munmap(space, bytes);
  return true;
}

// Long enough for the threads' products to overlap, since one that has ended leaves its memory to
// others.
void multiply() {
  const SingleThread single_thread;
  const at::NoGradGuard no_grad;  // grad mode is per thread
  const at::Tensor ones = at::ones({512, 512});
  at::mm(ones, ones);
}

}  // namespace

void reserve_blas_memory() {
  const int threads = at::get_num_threads();
  const std::size_t bytes = kPerThread * static_cast<std::size_t>(threads) + kBesides;
  if (!is_granted(bytes)) {
    throw Error(ErrorCode::memory,
                fmt::format("training on {} threads needs {} of address space more, which the "
                            "system refuses",
                            threads, readable_size(bytes)),
                "Raise the limit (`ulimit -v unlimited`), or use fewer threads.");
  }
  at::parallel_for(0, threads, 1, [](std::int64_t, std::int64_t) { multiply(); });
}

}  // namespace bitcycle
