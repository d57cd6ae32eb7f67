#pragma once

// The bits of every step of a run, past or planned, as a plot with a table, CSV, JSON or a picture.

#include "bitcycle/cost/run_cost.h"

#include <string>
#include <vector>

namespace bitcycle::cli {

struct BitsView {
  std::string title;
  std::vector<LayerBits> bits;  // of each step; at least one
  Step total = 0;               // steps of the whole run, of which these are the first
  LayerBits upper;              // what static stands for
  std::string closing;          // a line of what it cost, or nothing
  bool explained = true;        // whether they follow from the recipe; else the log alone has them
};

// How many steps there are at each combination of bits, in the order of their first step.
struct StretchOfBits {
  LayerBits bits;
  Step first = 0, steps = 0;
};
std::vector<StretchOfBits> stretches(const std::vector<LayerBits>& bits);

void print_text(const BitsView& view);
void print_csv(const BitsView& view);
void print_json(const BitsView& view);
void write_svg(const BitsView& view, const std::string& file);

}  // namespace bitcycle::cli
