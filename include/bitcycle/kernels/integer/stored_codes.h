#pragma once

// Codes as they are kept from the forward to the backward pass: without their halo, and two to a
// byte where they have 4 bits or fewer.

#include "bitcycle/kernels/integer/tensor.h"

namespace bitcycle::integer {

std::size_t stored_bytes(const CodeGrid& grid, int bits);

class StoredCodes : public CodeMaker {
 public:
  StoredCodes(const CodeGrid& grid, const CodeParams& params, const std::uint8_t* stored)
      : grid_(grid), params_(params), stored_(stored) {}
  void make(int image, std::uint8_t* codes) const override;

 private:
  CodeGrid grid_;
  CodeParams params_;
  const std::uint8_t* stored_;
};

// Stores what another maker makes.
class StoringCodes : public CodeMaker {
 public:
  StoringCodes(const CodeGrid& grid, const CodeParams& params, const CodeMaker& maker,
               std::uint8_t* stored)
      : grid_(grid), params_(params), maker_(maker), stored_(stored) {}
  void make(int image, std::uint8_t* codes) const override;

 private:
  CodeGrid grid_;
  CodeParams params_;
  const CodeMaker& maker_;
  std::uint8_t* stored_;
};

}  // namespace bitcycle::integer
