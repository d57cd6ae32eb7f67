#include "bitcycle/schedule/profile.h"

#include "bitcycle/base/error.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace bitcycle {

using std::numbers::pi;

double between(const Profile& profile, double from, double to, const Phase& phase, Time time) {
  const Step part =
      profile.clock == Profile::Clock::elapsed ? phase.position : phase.length - phase.position;
  const double x = static_cast<double>(part) / static_cast<double>(phase.length);
  const double share = profile.share(time == Time::forward ? x : 1 - x);
  return profile.means == Profile::Share::covered ? from + (to - from) * share
                                                  : to - (to - from) * share;
}

Profile cosine_profile() {
  return {[](double u) { return 0.5 * (1 - std::cos(pi * u)); }};
}

Profile linear_profile() {
  return {[](double u) { return u; }};
}

Profile exponential_profile(double rate) {
  if (!(rate > 0) || !std::isfinite(rate)) {
    throw Error(ErrorCode::usage,
                fmt::format("the exponential's rate must be above 0, found {}", rate),
                "The paper uses 4; larger values rise faster.");
  }
  return {[rate](double u) { return std::exp(-rate * u); }, Profile::Share::left};
}

Profile rex_profile(double beta) {
  if (!(beta >= 0 && beta < 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("REX's beta must be at least 0 and below 1, found {}", beta),
                "The paper uses 0.9; 0 is a straight line, larger values stay low for longer.");
  }
  return {[beta](double v) { return v / ((1 - beta) + beta * v); }, Profile::Share::left,
          Profile::Clock::left};
}

Profile cpt_cosine_profile() {
  return {[](double u) { return 0.5 * (1 + std::cos(pi * u + pi)); }};
}

Profile tent_profile() {
  return {[](double u) { return 1 - std::abs(2 * u - 1); }};
}

Profile anneal_profile() {
  return {[](double u) { return 0.5 * (1 + std::cos(pi * u)); }};
}

}  // namespace bitcycle
