#include "cli/sweep/missing_data.h"

#include "bitcycle/data/locate.h"

#include "data/known_datasets.h"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

using Place = std::pair<std::string, std::filesystem::path>;  // a dataset and its root

struct Lack {
  std::string what, cure;
};

std::optional<Lack> lack_of(const Place& place) {
  const auto& [name, root] = place;
  if (name == "synthetic") return std::nullopt;
  if (known_dataset(name) != nullptr) {
    const FoundDataset found = find_dataset(name, root);
    if (found.complete()) return std::nullopt;
    return Lack{name + " was not found", " " + found.cure};
  }
  std::error_code ignored;
  if (std::filesystem::exists(root, ignored)) return std::nullopt;
  return Lack{root.empty() ? name + " needs a data.root"
                           : fmt::format("there is no \"{}\" for {}", root.string(), name),
              ""};
}

}  // namespace

std::vector<std::string> missing_data(const SweepPlan& plan) {
  std::map<Place, std::size_t> needed;
  for (const PlannedCell& planned : plan.cells) {
    if (planned.run.state == SummaryState::finished) continue;
    const DataRecipe& data = planned.cell.recipe.data;
    ++needed[{data.dataset, data.root}];
  }
  std::vector<std::string> sentences;
  for (const auto& [place, cells] : needed) {
    const auto lack = lack_of(place);
    if (!lack) continue;
    sentences.push_back(fmt::format("{}: needed by {} of {} cells.{}", lack->what, cells,
                                    plan.cells.size(), lack->cure));
  }
  return sentences;
}

}  // namespace bitcycle::cli
