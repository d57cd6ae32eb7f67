#define BITCYCLE_ELEMENTWISE_TABLE elementwise_scalar
#include "kernels/elementwise.inl"
