#pragma once

// Codes for those who are about to work on them, made on the way where they are not in memory.

#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/isa/aligned.h"

#include <algorithm>
#include <span>
#include <vector>

namespace bitcycle::integer {

// One image's codes, where they are wanted.
inline void make_image(const Codes& codes, const CodeGrid& grid, int image, std::uint8_t* to) {
  if (codes.maker != nullptr) return codes.maker->make(image, to);
  std::copy_n(codes.data + image * grid.image_bytes(), grid.image_bytes(), to);
}

// The high codes of some images, then their low ones.
inline const std::uint8_t* wide_at_hand(const Codes& codes, const CodeGrid& grid,
                                        std::span<const int> images,
                                        AlignedBuffer<std::uint8_t>& buffer) {
  const std::ptrdiff_t each = grid.image_bytes(), all = std::ssize(images) * each;
  std::uint8_t* made = buffer.reserve(static_cast<std::size_t>(2 * all) + kCodeSlack);
  std::uint8_t* high = made;
  for (const int image : images) {
    codes.maker->make_wide(image, high, high + all);
    high += each;
  }
  return made;
}

// The codes of a run of images, made in a buffer of the thread if they are not in memory yet.
inline const std::uint8_t* at_hand(const Codes& codes, const CodeGrid& grid, int image, int images,
                                   AlignedBuffer<std::uint8_t>& buffer) {
  if (codes.maker == nullptr) return codes.data + image * grid.image_bytes();
  const std::ptrdiff_t each = grid.image_bytes();
  std::uint8_t* made = buffer.reserve(static_cast<std::size_t>(images * each) + kCodeSlack);
  for (int n = 0; n < images; ++n) codes.maker->make(image + n, made + n * each);
  return made;
}

// The same of images that need not follow each other; their codes then do.
inline const std::uint8_t* at_hand(const Codes& codes, const CodeGrid& grid,
                                   std::span<const int> images,
                                   AlignedBuffer<std::uint8_t>& buffer) {
  if (is_wide(codes.params)) return wide_at_hand(codes, grid, images, buffer);
  const int first = images.front();
  const auto count = static_cast<int>(images.size());
  if (images.back() - first == count - 1) return at_hand(codes, grid, first, count, buffer);
  const std::ptrdiff_t each = grid.image_bytes();
  std::uint8_t* made = buffer.reserve(static_cast<std::size_t>(count * each) + kCodeSlack);
  for (int n = 0; n < count; ++n) {
    make_image(codes, grid, images[static_cast<std::size_t>(n)], made + n * each);
  }
  return made;
}

struct ThreadCodes {
  AlignedBuffer<std::uint8_t> input, errors;
};
inline ThreadCodes& thread_codes() {
  static thread_local ThreadCodes codes;
  return codes;
}

// The plain loops of grouped convolutions want the codes of all their images in memory.
class InMemory {
 public:
  InMemory(const Codes& codes, const CodeGrid& grid, std::span<const int> images) : codes_(codes) {
    if (codes.maker == nullptr) return;
    const bool wide = is_wide(codes.params);
    made_.resize(wide ? wide_bytes(grid) : grid.bytes());
    const std::ptrdiff_t each = grid.image_bytes();
#pragma omp parallel for schedule(static)
    for (const int image : images) {
      std::uint8_t* made = made_.data() + image * each;
      wide ? codes.maker->make_wide(image, made, made + grid.batch * each)
           : codes.maker->make(image, made);
    }
    codes_ = {made_.data(), codes.params};
  }
  const Codes& codes() const {
    return codes_;
  }

 private:
  Codes codes_;
  std::vector<std::uint8_t> made_;
};

}  // namespace bitcycle::integer
