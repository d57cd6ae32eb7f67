#pragma once

// The bits of a run: at each step, by layer, and over the steps to come where they are known
// beforehand. The recipe says what happened between two logged steps; where the log contradicts
// it, because it was changed under way, the log alone counts.

#include "report/view/run_record.h"
#include "report/view/view_options.h"

#include <nlohmann/json.hpp>

namespace bitcycle {

// The layers of the model that a recipe trains, as far as they are known without its data.
std::vector<LayerInfo> layers_of(const Recipe& recipe);

// {"bits": {role: series}, "schedule": {role: series} or null, "shares": [...], "heat": {...},
//  "logged": whether steps between two logged ones are not known, "choices": {...} of gates or
//  null, "stages": [...]}, with what cannot be told left out and a notice for it.
nlohmann::ordered_json precision_view(RunRecord& record, const ViewOptions& options);

}  // namespace bitcycle
