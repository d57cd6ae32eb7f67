#pragma once

// Pictures made from a seed, for tests and benches: nothing to download, any shape and size, and
// learnable. A class is a pattern of 4 x 4 coloured cells; a sample is its class's pattern under
// noise of half the pixel range. Integer arithmetic alone, so the bytes are the same everywhere.

#include "bitcycle/base/random.h"
#include "bitcycle/data/catalog.h"

#include <memory>

namespace bitcycle {

// Training and test sets of one seed share the patterns, not the noise.
std::shared_ptr<const Dataset> make_synthetic(const SyntheticOptions& options, RandomKey key,
                                              Split split);

}  // namespace bitcycle
