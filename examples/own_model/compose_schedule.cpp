// Schedules by name and from parts, with the part of Bitcycle that needs no LibTorch.
// Run:     ./compose_schedule
// Prints:  the bits of two schedules at some steps, then what the second costs.

#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/cyclic.h"
#include "bitcycle/schedule/spec.h"
#include "bitcycle/schedule/summary.h"

#include <cstdio>

int main() {
  using namespace bitcycle;
  const Step steps = 64000;

  // By name, as a recipe does it.
  const Schedule cpt = make_schedule({.name = "CR", .min = 3, .max = 8, .cycles = 32}, steps);

  // From parts: 4 bits for a tenth of the run, then REX cycles, 8 bits held at the end.
  const Step begin = step_at(0.1, steps);
  const Schedule cycles = cyclic(rex_profile(0.9), Cycles::repeated,
                                 {.min = 4, .max = 8, .cycles = 8, .steps = steps - begin});
  const Schedule mine = hold(join({constant(4), cycles}, {begin}), step_at(0.9, steps), 8);

  for (Step t = 0; t < steps; t += 9100) std::printf("%d %d\n", cpt.bits(t), mine.bits(t));
  std::printf("cost %.3f\n", relative_cost(mine, constant(8), steps, {8, 8}));
}
