#pragma once

// Clipping gradients by their common norm, as PyTorch and fairseq do.

#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

// sqrt(sum of g^2) over all elements of all gradients. On the CPU it is the same to the bit
// whatever the number of threads.
double gradient_norm(const std::vector<at::Tensor>& gradients);

// g *= min(1, max_norm / (norm + 1e-6)). A norm that is not finite changes nothing: the factor
// would be 0, and the update would hide that a gradient is not finite instead of showing it.
void clip_gradients(const std::vector<at::Tensor>& gradients, double max_norm);

}  // namespace bitcycle
