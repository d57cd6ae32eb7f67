#pragma once

// Which bits a run had, read from its directory, and which a recipe plans where they are known
// beforehand.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/events/metrics_file.h"

#include "cli/schedule/bits_view.h"
#include "cli/schedule/gated_bits.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

// Runs of more steps are not shown: every step is a row in memory and, with --csv, in print.
inline constexpr Step kMostShownSteps = 10'000'000;

// What a run has logged of its steps, in order. Throws Error(usage) where that is nothing yet.
std::vector<LoggedStep> run_log(const std::filesystem::path& run_directory);

// Of the steps that are logged. The recipe says what the policy did between two logged steps, and
// the log of every run says when stages changed; where the log contradicts the recipe, which may
// have been changed under way, the log alone counts. Throws Error(usage) when the directory holds
// no run, or one that has logged nothing yet.
BitsView run_bits(const std::filesystem::path& run_directory);
// The same of a run whose gates chose; nothing of others, and where what was chosen is not known:
// then run_bits() shows what was logged.
std::optional<GatedBits> run_choices(const std::filesystem::path& run_directory);

// Of a run, by its last logged step, without its data.
RunLength run_length(const Recipe& recipe, const LoggedStep& last);

// "spent ... GBitOPs, 53.6 % of static 8/8 (from metrics.jsonl)", a line.
std::string spent_text(const LoggedStep& last, LayerBits upper);

// Of a recipe with schedules, over its steps; where it gives its length in epochs, over the assumed
// ones. Throws Error(usage) where an epoch's steps matter and are neither assumed nor known.
BitsView planned_bits(const Recipe& recipe, const std::string& title, const RunLength& assumed);

}  // namespace bitcycle::cli
