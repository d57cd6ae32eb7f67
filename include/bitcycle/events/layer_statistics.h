#pragma once

// What quantizing did to the tensors of a layer in one step: over which range, how much of them was
// lost, and which codes came out. Of large tensors some rows are looked at (quant/observe.h), of
// several calls in a step all.

#include "bitcycle/kernels/range.h"
#include "bitcycle/schedule/schedule.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

struct TensorStatistics {
  // Codes are counted in so many equal parts of the codes that there are.
  static constexpr std::size_t kParts = 32;

  Range range;             // of the whole tensor
  int widest = 0;          // the most bits that a value had
  std::int64_t count = 0;  // of the values that were looked at
  double bit_sum = 0;      // over them; where gates choose, samples differ
  double signal = 0;       // sum of x^2
  double noise = 0;        // sum of (x - xq)^2
  std::array<std::int64_t, kParts> codes{};

  double bits() const { return bit_sum / static_cast<double>(count); }
  // 10 log10(signal / noise): infinite where nothing was lost, NaN where there was nothing.
  double sqnr_db() const;
  // How often each code was seen; codes of more than 5 bits in groups, in rising order.
  std::vector<std::int64_t> code_counts() const;
};

// Roles in float have none.
struct LayerStatistics {
  std::string name;
  std::optional<TensorStatistics> weight, activation, error;
};

// Calls visit(name of the role, its statistics) for those that there are.
template <typename Visit>
void each_role(const LayerStatistics& layer, const Visit& visit) {
  if (layer.weight) visit("weight", *layer.weight);
  if (layer.activation) visit("activation", *layer.activation);
  if (layer.error) visit("error", *layer.error);
}

// What was seen in a step that was looked at.
struct LayerReport {
  Step step = 0;            // steps done
  std::int64_t number = 0;  // of the sample, from 0
  std::vector<LayerStatistics> layers;
};

}  // namespace bitcycle
