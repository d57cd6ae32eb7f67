#include "bitcycle/config/notices.h"

#include "bitcycle/schedule/notices.h"

#include "config/fields.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

// How often the schedules of a run advance.
Step advances(PrecisionRecipe::Per per, const RunLength& length) {
  return per == PrecisionRecipe::Per::step ? length.steps
                                           : epoch_count(length.steps, length.steps_per_epoch);
}

class NoticeVisitor {
 public:
  NoticeVisitor(PrecisionRecipe::Per per, const RunLength& length)
      : total_(advances(per, length)),
        unit_(per == PrecisionRecipe::Per::step ? "steps" : "epochs") {}

  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  void operator()(const Field& field, const ScheduleSpec& spec) {
    for (const std::string& notice : schedule_notices(spec, total_, unit_)) {
      notices.push_back(fmt::format("{}{}: {}", prefix_, field.key, notice));
    }
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
  Step total_;
  std::string_view unit_;
  std::string prefix_;
};

}  // namespace

std::vector<std::string> notices(const Recipe& recipe, const RunLength& length) {
  NoticeVisitor visitor(recipe.precision.per, length);
  describe(visitor, recipe);
  return visitor.notices;
}

}  // namespace bitcycle
