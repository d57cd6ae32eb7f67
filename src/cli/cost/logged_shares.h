#pragma once

// How full the batches of a run's steps were, found again from its log, without its data. The log
// has the sum of what static precision would have cost, in which every sample counts alike: that
// tells the samples up to each logged step. Those of the steps between two of them follow from the
// epochs.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/events/metrics_file.h"

#include "cli/cost/step_cost.h"

#include <vector>

namespace bitcycle::cli {

// Of the steps up to the last of `log`, which is a run's (`run_log`) under this policy. Where no
// epochs explain it, as when the batch size was changed under way, the steps between two logged
// ones share alike.
StepShares logged_shares(const Recipe& recipe, const PrecisionPolicy& policy,
                         const std::vector<LoggedStep>& log);

}  // namespace bitcycle::cli
