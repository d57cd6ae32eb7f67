#pragma once

// What the gates of a run chose, stage by stage and step by step, as plots with a table, CSV, JSON
// or a picture. All of it comes from the choices that the run has logged, and none of it is rounded
// before it is shown.

#include "bitcycle/config/chosen_bits.h"
#include "bitcycle/events/metrics_file.h"

#include "base/json_text.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

// The steps from `first` up to a logged one, and what was chosen in them.
struct ChosenSteps {
  Step first = 0, steps = 0;
  BlockShares shares;
  ChosenBits chosen;
  double cp = 0;
};

// A stage, and what was chosen in the logged stretches that ended in it, if any did.
struct TargetStage {
  double target = 0;
  Step first = 0, steps = 0;
  std::optional<ChosenSteps> mean;  // without shares
};

struct GatedBits {
  std::string run;
  std::vector<ChosenSteps> logged;  // at least one
  std::vector<TargetStage> stages;  // that were begun
  bool can_skip = false;
  Step total = 0;  // steps of the whole run
  LoggedStep last;

  ChosenSteps mean() const;
};

// Of a run with [precision.dynamic] whose log `run_bits` has found in order; nothing, where the
// choices in it are not of the recipe's options, which were then changed under way.
std::optional<GatedBits> gated_bits(const std::filesystem::path& run, const Recipe& recipe,
                                    const std::vector<LoggedStep>& log, Step total);

// "stage", "first step" and so on, as a table and as JSON.
std::string stage_table(const GatedBits& view);
nlohmann::ordered_json stages_json(const GatedBits& view);

void print_text(const GatedBits& view);
void print_csv(const GatedBits& view);
void print_json(const GatedBits& view);
void write_svg(const GatedBits& view, const std::string& file);

}  // namespace bitcycle::cli
