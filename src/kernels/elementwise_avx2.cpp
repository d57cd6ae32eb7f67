#define BITCYCLE_ELEMENTWISE_TABLE elementwise_avx2
#include "kernels/elementwise.inl"
