// One fused unit, activation(norm(conv(x)) + residual), that is carried out in integers.
// Run:     ./fused_unit
// Prints:  the shape of what it gives.

#include <iostream>

#include <bitcycle/nn/conv_unit.h>

int main() {
  bitcycle::ConvUnit unit(bitcycle::ConvUnitOptions{
      torch::nn::Conv2dOptions(16, 32, 3).padding(1).bias(false), bitcycle::Activation::relu});
  bitcycle::set_executor(*unit, bitcycle::Executor::integer);
  unit->conv->choose({4, 4, 8});  // weight, activation and error bits
  std::cout << unit->forward(torch::rand({2, 16, 8, 8})).sizes() << "\n";
}
