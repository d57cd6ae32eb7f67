#pragma once

// What is known of a key besides its value: its name, its meaning, its range, and when it applies.

#include <cfloat>
#include <string_view>

namespace bitcycle {

// Whether a key decides what a run computes, or only how it is carried out.
enum class Effect { result, conduct };

// A key may mean something only when another key of its section has a certain value.
struct Condition {
  bool met = true;
  std::string_view key;
  std::string_view value;  // as in "applies only when <key> is <value>"
};

struct Field {
  std::string_view key;
  std::string_view about;
  double low = -DBL_MAX, high = DBL_MAX;  // numbers: the allowed range, finite ones only
  Effect effect = Effect::result;
  Condition condition = {};
  bool number_too = false;  // a word that may also be a number
  bool added_later = false;
  std::string_view cure = "";  // what to do about a number out of range

  constexpr Field in(double low_bound, double high_bound) const {
    Field copy = *this;
    copy.low = low_bound;
    copy.high = high_bound;
    return copy;
  }
  constexpr Field at_least(double bound) const { return in(bound, DBL_MAX); }
  constexpr Field conduct() const {
    Field copy = *this;
    copy.effect = Effect::conduct;
    return copy;
  }
  constexpr Field only_if(bool met, std::string_view other, std::string_view value) const {
    Field copy = *this;
    copy.condition = {met, other, value};
    return copy;
  }
  // A key that recipes did not have from the first. Where it has its default it is left out of the
  // fingerprint, so that runs which began before it came go on.
  constexpr Field later() const {
    Field copy = *this;
    copy.added_later = true;
    return copy;
  }
  constexpr Field otherwise(std::string_view hint) const {
    Field copy = *this;
    copy.cure = hint;
    return copy;
  }
  constexpr Field or_number() const {
    Field copy = *this;
    copy.number_too = true;
    return copy;
  }
};

constexpr Field field(std::string_view key, std::string_view about) {
  return {key, about};
}

}  // namespace bitcycle
