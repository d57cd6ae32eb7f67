#define BITCYCLE_ELEMENTWISE_TABLE elementwise_avx512
#include "kernels/elementwise.inl"
