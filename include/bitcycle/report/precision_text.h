#pragma once

// How tables write the precision of a run: as the papers do, forward over backward.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/recipe.h"

#include <string>
#include <string_view>

namespace bitcycle {

// "CR 3-8", "static 8", "fp", or the expression that the name is.
std::string schedule_text(const ScheduleSpec& spec);
// The same with everything that is not as usual: "CR 3-8 x4, start 0.25".
std::string full_schedule_text(const ScheduleSpec& spec);
// "CR 3-8/8", weights and activations apart where they differ; "PFQ 3-4-6-8/6-6-8-8", the stages;
// "DFQ 4w cp 3", "FracTrain 4w cp 1.5-2", bits of weights and targets; "float". A scheme other than
// those that backends have of themselves is named: "CR 3-8/8 dorefa".
std::string precision_text(const PrecisionRecipe& precision);
// The scheme that it came to under the backend of that name; "auto" while none is settled, "float"
// where nothing is quantized.
std::string scheme_text(const PrecisionRecipe& precision, std::string_view backend);
// The width of an evaluation: the recipe's word, and what it comes to where that is another:
// "max (8)". `widths` is empty where nobody knows, or gates decide.
std::string evaluation_text(const std::string& word, const std::string& widths);
// What "max" or another word came to after `step` steps; "" where that does not follow from the
// recipe: of stages and gates, and while the run's length is not known.
std::string evaluation_widths(const PrecisionRecipe& precision, std::string_view word, Step step,
                              const RunLength& length);
// ", scheme dorefa" where such a scheme is asked for, else "".
std::string scheme_note(const PrecisionRecipe& precision);

}  // namespace bitcycle
