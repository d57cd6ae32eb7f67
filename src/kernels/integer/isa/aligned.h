#pragma once

// A buffer aligned to cache lines that only ever grows: kept per thread or per layer, it stops
// allocating (and faulting pages in) after the first step.

#include <cstddef>
#include <memory>
#include <new>

namespace bitcycle::integer {

template <typename T>
class AlignedBuffer {
 public:
  // At least `count` elements; what they held before is lost when the buffer has to grow.
  T* reserve(std::size_t count) {
    if (count > capacity_) {
      data_.reset(static_cast<T*>(::operator new(count * sizeof(T), kAlignment)));
      capacity_ = count;
    }
    return data_.get();
  }
  T* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Release {
    void operator()(T* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<T, Release> data_;
  std::size_t capacity_ = 0;
};

}  // namespace bitcycle::integer
