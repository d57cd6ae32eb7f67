#pragma once

// Causal self-attention in float:
//
//   out = dropout(softmax(q k^T / sqrt(width / heads), over positions up to the query's)) v
//
// per head. Every head is computed by one thread, block by block of queries with only the keys that
// they see, so the result does not depend on the number of threads, and what the mask hides is
// mostly not computed. Probabilities are made again in the backward pass instead of being kept.

#include "bitcycle/kernels/dropout.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

struct AttentionCall {
  std::int64_t heads = 1;
  DropRate dropout;
  NoiseKey noise;
};

// q, k and v are [batch, time, width].
at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionCall& call);

}  // namespace bitcycle
