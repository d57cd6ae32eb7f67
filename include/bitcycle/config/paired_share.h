#pragma once

// What a precision is worth: the share of what was learned at the upper width that is there at a
// lower one, from pairs of neighbouring measurements,
//
//   share = sum of low / sum of high,
//
// where both are counted above chance. What both of a pair have in common, such as the progress so
// far, cancels. The standard error is that of the residuals low - share * high.

#include <vector>

namespace bitcycle {

struct LearnedPair {
  double low = 0, high = 0;
};

struct EstimatedMean {
  double value = 0;
  double error = 0;  // standard error
  bool operator==(const EstimatedMean&) const = default;
};

struct PairedShare {
  int pairs = 0;
  EstimatedMean share;
  EstimatedMean low, high;
  bool operator==(const PairedShare&) const = default;
};

// Of fewer than two pairs, and where the upper width has learned nothing, the share is 0 with an
// error of 1: nothing is known.
PairedShare paired_share(const std::vector<LearnedPair>& pairs);

// How sure it is that the share is above the threshold, from 0 to 1, by Student's t.
double surely_above(const PairedShare& found, double threshold);

}  // namespace bitcycle
