#pragma once

// Which bits the layers of a run had at a step, from whoever knows it: the recipe's schedules, the
// stages that the log tells of, the choices of gates, or the logged bits alone. A run's length and
// its log say which; the pages ask without knowing.

#include "bitcycle/cost/run_cost.h"

#include "report/view/run_record.h"

#include <functional>
#include <string>
#include <vector>

namespace bitcycle {

// Mean bits over the samples, float counted as 32.
struct LayersAtStep {
  MeanBits common;
  std::vector<MeanBits> layers;
};

struct StepBitsSource {
  std::vector<std::string> layers;       // names; one "all layers" where no more is known
  std::function<LayersAtStep(Step)> at;  // of a step, from 0
  bool foreseen = false;                 // whether steps to come can be asked for
  bool means = false;                    // whether bits are means over samples that differed
  bool logged = false;                   // whether only logged steps are known, for those between
  std::string notice;
};

// Steps of a run to ask for: all of them; of very long runs every so many.
std::vector<Step> looked_at(Step steps);

// What a line of metrics.jsonl says of its step, and whether it says all of it.
bool tells_bits(const nlohmann::ordered_json& line);
MeanBits logged_bits(const nlohmann::ordered_json& line);

// Whether the recipe says which bits there were, with what is known of the run: a schedule needs
// its length, and what was decided under way needs the log.
bool knows_bits(const RunRecord& record);

// The record has a recipe that can be read, and steps.
StepBitsSource step_bits_source(const RunRecord& record, std::vector<LayerInfo> layers);

}  // namespace bitcycle
