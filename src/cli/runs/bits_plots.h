#pragma once

// The bits of a run as small plots for the terminal.

#include "bitcycle/report/text_plot.h"

#include "report/view/run_record.h"

#include <string>

namespace bitcycle::cli {

// Of every step, as the page has them, where the recipe and the log explain them, else of those
// that were logged; of runs whose gates chose, means over blocks and samples at the logged steps.
std::string bits_plots(const RunRecord& record, const TextPlotOptions& options);

// A plot below its title; nothing of an empty one.
std::string titled(const std::string& title, const std::string& plot);

}  // namespace bitcycle::cli
