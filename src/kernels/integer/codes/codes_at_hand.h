#pragma once

// Codes for those who are about to work on them, made on the way where they are not in memory.

#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/integer/isa/aligned.h"

#include <vector>

namespace bitcycle::integer {

// The codes of a run of images, made in a buffer of the thread if they are not in memory yet.
inline const std::uint8_t* at_hand(const Codes& codes, const CodeGrid& grid, int image, int images,
                                   AlignedBuffer<std::uint8_t>& buffer) {
  if (codes.maker == nullptr) return codes.data + image * grid.image_bytes();
  const std::ptrdiff_t each = grid.image_bytes();
  std::uint8_t* made = buffer.reserve(static_cast<std::size_t>(images * each) + kCodeSlack);
  for (int n = 0; n < images; ++n) codes.maker->make(image + n, made + n * each);
  return made;
}

struct ThreadCodes {
  AlignedBuffer<std::uint8_t> input, errors;
};
inline ThreadCodes& thread_codes() {
  static thread_local ThreadCodes codes;
  return codes;
}

// The plain loops of grouped convolutions want all codes in memory.
class InMemory {
 public:
  InMemory(const Codes& codes, const CodeGrid& grid) : codes_(codes) {
    if (codes.maker == nullptr) return;
    made_.resize(grid.bytes());
    make_all(grid, *codes.maker, made_.data());
    codes_ = {made_.data(), codes.params};
  }
  const Codes& codes() const { return codes_; }

 private:
  Codes codes_;
  std::vector<std::uint8_t> made_;
};

}  // namespace bitcycle::integer
