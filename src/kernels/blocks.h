#pragma once

// Work in parallel over blocks whose number depends on the data alone, never on the threads, so
// that whoever combines the blocks' results in order gets the same bytes on any machine.

#include <algorithm>
#include <cstdint>

namespace bitcycle {

struct Block {
  std::int64_t index;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size() const { return end - begin; }
};

inline std::int64_t block_count(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

// Calls work(block) for [0, count) cut into blocks of `size` elements (the last may be shorter).
template <typename Work>
void for_each_block(std::int64_t count, std::int64_t size, const Work& work) {
  const std::int64_t blocks = block_count(count, size);
#pragma omp parallel for schedule(static) if (blocks > 1)
  for (std::int64_t i = 0; i < blocks; ++i) {
    work(Block{i, i * size, std::min(count, (i + 1) * size)});
  }
}

}  // namespace bitcycle
