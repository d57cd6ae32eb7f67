#include "cli/cost/cost_totals.h"

#include "bitcycle/report/format.h"

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

std::string total_text(const char* what, const Total& total, double unit) {
  const auto [least, most] = total.run;
  if (least == most) {
    return fmt::format("{}: {}, {} of static\n", what, amount_text(least / unit),
                       share_text(least, total.fixed));
  }
  return fmt::format("{}: {} to {}, {} to {} of static\n", what, amount_text(least / unit),
                     amount_text(most / unit), share_text(least, total.fixed),
                     share_text(most, total.fixed));
}

}  // namespace

std::string other_totals_text(const Total& normalised_macs, const Total& joules) {
  return total_text("FracTrain's normalised MACs", normalised_macs, 1) +
         total_text("modelled energy in kJ (45 nm; docs/cost.md)", joules, 1e3);
}

}  // namespace bitcycle::cli
