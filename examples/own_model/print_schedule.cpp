// Prints the bits of CPT's schedule, with the part of Bitcycle that needs no LibTorch.
// Run:     ./print_schedule
// Prints:  3 3 4 5 6 6 7 8 3 3 4 5 6 6 7 8

#include <iostream>

#include <bitcycle/schedule/spec.h>

int main() {
  const auto bits = bitcycle::make_schedule({.name = "CR", .min = 3, .max = 8, .cycles = 2}, 16);
  for (int step = 0; step < 16; ++step) std::cout << (step > 0 ? " " : "") << bits.bits(step);
  std::cout << "\n";
}
