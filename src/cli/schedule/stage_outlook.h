#pragma once

// What can be said before a run of precision that will follow its loss, its gates or a range test:
// the stages, when each may begin, and what it costs.

#include "bitcycle/config/recipe.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/schedule/schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct StageLimits {
  double threshold = 0;  // below which the loss must stay for the stage to end; the last has none
  Step earliest = 0;     // period after which it may begin
  std::optional<double> latest;  // fraction of the run; none: it may never begin
  bool by_deadline = false;      // whether that comes before the loss can have settled
};

struct StageOutlook {
  LayerBits bits;
  StageLimits limits;
  double relative_cost = 0;  // of a step, against one of the last stage
};

// The recipe has stages.
std::vector<StageOutlook> stage_outlook(const Recipe& recipe);

// The recipe has stages, gates, or a range test.
std::string outlook_text(const Recipe& recipe, const std::string& title);
std::string outlook_json(const Recipe& recipe);

}  // namespace bitcycle::cli
