#include "config/policy_state.h"

#include "bitcycle/base/error.h"

#include <cmath>

#include <fmt/format.h>

namespace bitcycle {

const std::vector<double>& PolicyStateReader::part(const std::string& name) const {
  const auto found = state_.find(name);
  if (found == state_.end()) refuse("it lacks \"" + name + "\"");
  return found->second;
}

const std::vector<double>& PolicyStateReader::rows(const std::string& name,
                                                   std::size_t width) const {
  const std::vector<double>& values = part(name);
  if (values.size() % width == 0) return values;
  refuse(fmt::format("expected rows of {} numbers as \"{}\", found {} numbers", width, name,
                     values.size()));
}

void PolicyStateReader::refuse(const std::string& what) const {
  throw Error(ErrorCode::checkpoint, "the state of " + whose_ + ": " + what,
              "The checkpoint is of another recipe, or damaged: remove it to go back to the one "
              "before, or start the run anew.");
}

bool is_count(double value) {
  constexpr double kMost = 1e15;
  return value >= 0 && value <= kMost && value == std::floor(value);
}

}  // namespace bitcycle
