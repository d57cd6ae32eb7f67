#pragma once

// The shares of a range test in the terminal, a row for each width: where it was found, two
// standard errors to either side, and the threshold.
//
//   2 ┤ ─●─                          ┊
//   3 ┤                              ┊  ──●──
//     0                             0.8        1

#include "bitcycle/config/range_test.h"
#include "bitcycle/report/text_plot.h"

#include <string>
#include <vector>

namespace bitcycle::cli {

// Ended by a newline.
std::string share_plot(const std::vector<RangeTest::Result>& results, double threshold,
                       Charset charset);

}  // namespace bitcycle::cli
