#pragma once

// The shape of one cycle. A profile leads from one bound to the other; cyclic schedules repeat it
// or run it to and fro (cyclic.h). Bits come from rounding, and exact ties are common (a linear
// rise from 3 to 8 meets one in every level), so each profile keeps the order of operations of the
// code that the papers published: Note [Evaluation order].

#include "bitcycle/schedule/schedule.h"

#include <functional>

namespace bitcycle {

// Where in a cycle a step lies: `position` of `length`, whole numbers so that nothing is rounded
// yet.
struct Phase {
  Step cycle = 0;     // 0, 1, 2, ...
  Step position = 0;  // 0 <= position < length
  Step length = 1;    // in steps, or any other unit that position shares
};

// Note [Evaluation order].
// The way from a to b is a + (b - a) * s(u) in exact arithmetic, u = position / length. In doubles
// it matters which bound one starts from, and whether the share is a function of the elapsed time
// or of the time left. A Profile states both; with them, going from b to a is the vertical
// reflection to the last bit, and replacing x by 1 - x the horizontal one.
struct Profile {
  enum class Share {
    covered,
    left
  };  // share(x) is what has been covered, or what is left to cover
  enum class Clock { elapsed, left };  // x is position / length, or (length - position) / length

  std::function<double(double)> share;
  Share means = Share::covered;
  Clock clock = Clock::elapsed;
};

enum class Time { forward, mirrored };

// The value on the way between two bounds. Mirrored time shows the way from `from` to `to`
// backwards.
double between(const Profile& profile, double from, double to, const Phase& phase,
               Time time = Time::forward);

// The four profiles of Better Schedules.
Profile cosine_profile();  // (1 - cos(pi u)) / 2
Profile linear_profile();  // u
// 1 - exp(-rate u): rises fast, then stays high; ends at 1 - exp(-rate), 0.982 for rate 4.
// Throws Error(usage) unless rate > 0 and finite.
Profile exponential_profile(double rate = 4.0);
// 1 - v / ((1 - beta) + beta v), v = 1 - u: stays low, then shoots up; beta = 0 is linear.
// Throws Error(usage) unless 0 <= beta < 1.
Profile rex_profile(double beta = 0.9);

// Cyclic Precision Training: its own order of the cosine, and the two variants it compares with.
Profile cpt_cosine_profile();  // (1 + cos(pi u + pi)) / 2
Profile tent_profile();        // 1 - |2u - 1|: up and down again within one cycle
Profile anneal_profile();      // (1 + cos(pi u)) / 2: starts at the upper bound and falls

}  // namespace bitcycle
