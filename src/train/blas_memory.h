#pragma once

// The BLAS library's working memory. OpenBLAS takes 128 MiB of address space with the first product
// of each thread, and where the system refuses it asks again for ever: the process neither goes on
// nor ends.

namespace bitcycle {

// Has every thread of LibTorch's pool take its working memory now, in place of somewhere in a first
// step. Throws Error(memory) where the system would refuse it.
void reserve_blas_memory();

}  // namespace bitcycle
