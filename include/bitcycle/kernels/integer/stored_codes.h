#pragma once

// Codes as they are kept from the forward to the backward pass: without their halo, and two to a
// byte where they have 4 bits or fewer.

#include "bitcycle/kernels/integer/tensor.h"

namespace bitcycle::integer {

std::size_t stored_bytes(const CodeGrid& grid, int bits);

void store_codes(const CodeGrid& grid, Codes codes, std::uint8_t* stored);

// Fills the halo as well.
void load_codes(const CodeGrid& grid, const std::uint8_t* stored, const CodeParams& params,
                std::uint8_t* codes);

}  // namespace bitcycle::integer
