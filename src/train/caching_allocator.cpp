#include "bitcycle/train/caching_allocator.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/quant/torch.h"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

namespace bitcycle {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector
// Note [Block sizes]: sizes are rounded up to four steps a doubling, so that a freed block serves
// requests of nearly its size; at most a quarter of a block is unused.
std::size_t rounded(std::size_t bytes) {
  if (bytes <= 1024) return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

class CachingAllocator final : public c10::Allocator {
 public:
  // LibTorch 2.3 made allocate() non-const; 2.2 asks for copy_data().
#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(std::size_t bytes) override {
    return block_for(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override {
    return block_for(bytes);
  }
#endif
  c10::DeleterFnPtr raw_deleter() const override {
    return &CachingAllocator::release;
  }

  static CachingAllocator& instance() {
    static auto* allocator = new CachingAllocator;  // tensors may outlive static destruction
    return *allocator;
  }

  TensorMemory memory() const {
    const std::lock_guard lock(mutex_);
    return memory_;
  }
  void reset_peak() {
    const std::lock_guard lock(mutex_);
    memory_.peak = memory_.in_use;
  }

 private:
  // Asks first: the system would hand out more than it has and kill the process later.
  void* fresh_block(std::size_t size) const {
    const std::string hint = "Lower data.batch_size, or use a smaller network.";
    const std::string what = "a tensor, besides " +
                             readable_size(static_cast<std::uint64_t>(memory_.in_use)) +
                             " in other tensors,";
    require_memory(size, what, hint);
    void* block = std::aligned_alloc(kAlignment, size);
    if (block != nullptr) return block;
    throw Error(ErrorCode::memory,
                what + " needs " + readable_size(size) + ", which the system refuses", hint);
  }

  c10::DataPtr block_for(std::size_t bytes) const {
    if (bytes == 0) return {nullptr, c10::Device(c10::DeviceType::CPU)};
    void* block = take(rounded(bytes));
    return {block, block, &CachingAllocator::release, c10::Device(c10::DeviceType::CPU)};
  }

  void* take(std::size_t size) const {
    const std::lock_guard lock(mutex_);
    auto& free = free_[size];
    void* block = nullptr;
    if (!free.empty()) {
      block = free.back();
      free.pop_back();
    } else {
      block = fresh_block(size);
    }
    sizes_.emplace(block, size);
    memory_.in_use += static_cast<std::int64_t>(size);
    memory_.peak = std::max(memory_.peak, memory_.in_use);
    return block;
  }

  static void release(void* block) {
    if (block == nullptr) return;
    const CachingAllocator& self = instance();
    const std::lock_guard lock(self.mutex_);
    const auto found = self.sizes_.find(block);
    self.free_[found->second].push_back(block);
    self.memory_.in_use -= static_cast<std::int64_t>(found->second);
    self.sizes_.erase(found);
  }

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, std::vector<void*>> free_;
  mutable std::unordered_map<void*, std::size_t> sizes_;
  mutable TensorMemory memory_;
};

}  // namespace

void use_caching_allocator() {
  c10::SetCPUAllocator(&CachingAllocator::instance(), /*priority=*/1);
}

TensorMemory tensor_memory() {
  return CachingAllocator::instance().memory();
}
void reset_peak_memory() {
  CachingAllocator::instance().reset_peak();
}

}  // namespace bitcycle
