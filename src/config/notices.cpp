// What a recipe allows and its author may not have meant.

#include "config/fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Triangular schedules by name: their first cycle falls, so only an even number ends at the top.
bool ends_at_bottom(const ScheduleSpec& spec) {
  constexpr std::string_view kTriangular[] = {"CT", "LT", "ETV", "ETH", "RTV", "RTH"};
  return std::ranges::find(kTriangular, spec.name) != std::end(kTriangular) &&
         spec.cycles % 2 == 1 && spec.min < spec.max;
}

class NoticeVisitor {
 public:
  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  void operator()(const Field& field, const ScheduleSpec& spec) {
    if (!ends_at_bottom(spec)) return;
    notices.push_back(
        fmt::format("{}{}: an odd number of {} cycles ({}) ends the run at {} bits; "
                    "an even number ends it at {}",
                    prefix_, field.key, spec.name, spec.cycles, spec.min, spec.max));
  }
  void operator()(const Field& field, const std::optional<ScheduleSpec>& spec) {
    if (spec) (*this)(field, *spec);
  }
  void operator()(const Field& field, const std::vector<LayerOverride>& overrides) {
    const std::string outer = prefix_;
    for (const LayerOverride& entry : overrides) {
      prefix_ = fmt::format("{}{} of {}: ", outer, field.key, entry.layers);
      describe(*this, entry);
    }
    prefix_ = outer;
  }
  template <class Other>
  void operator()(const Field&, const Other&) {}

  std::vector<std::string> notices;

 private:
  std::string prefix_;
};

}  // namespace

std::vector<std::string> notices(const Recipe& recipe) {
  NoticeVisitor visitor;
  describe(visitor, recipe);
  return visitor.notices;
}

}  // namespace bitcycle
