#pragma once

// Schedules as short texts, so that a test can state a whole sequence.

#include "bitcycle/schedule/schedule.h"

#include <string>

namespace bitcycle {

inline void append(std::string& text, const std::string& word) {
  text += text.empty() ? word : " " + word;
}

// "3 3 4 5": the widths of steps 0 .. total-1.
inline std::string widths(const Schedule& schedule, Step total) {
  std::string text;
  for (Step t = 0; t < total; ++t) append(text, std::to_string(schedule.bits(t)));
  return text;
}

// "3:0 4:410": every width where it begins, in order of time.
inline std::string changes(const Schedule& schedule, Step total) {
  std::string text;
  for (Step t = 0; t < total; ++t) {
    if (t > 0 && schedule.bits(t) == schedule.bits(t - 1)) continue;
    append(text, std::to_string(schedule.bits(t)) + ":" + std::to_string(t));
  }
  return text;
}

// "3x21 4x16": the lengths of runs of equal width from step `from` to before step `to`.
inline std::string runs(const Schedule& schedule, Step from, Step to) {
  std::string text;
  for (Step t = from, begin = from; t < to; ++t) {
    if (t + 1 < to && schedule.bits(t + 1) == schedule.bits(t)) continue;
    append(text, std::to_string(schedule.bits(t)) + "x" + std::to_string(t + 1 - begin));
    begin = t + 1;
  }
  return text;
}

}  // namespace bitcycle
