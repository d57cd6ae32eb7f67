#include "report/view/gate_choices.h"

#include "bitcycle/config/dynamic_policy.h"

#include "report/view/point_series.h"
#include "report/view/precision_view.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

// What was chosen in the steps after `before` up to `step`.
struct Chosen {
  Step before = 0, step = 0;
  BlockShares shares;
};
using ChosenSpan = std::span<const Chosen>;

std::vector<Chosen> chosen_in(const std::vector<Json>& steps, std::size_t options) {
  std::vector<Chosen> all;
  Step before = 0;
  for (const Json& line : steps) {
    auto shares = choices_in(line, options);
    if (shares) all.push_back({before, step_in(line), std::move(*shares)});
    before = step_in(line);
  }
  // A block more or less would be another network.
  std::erase_if(all, [blocks = all.empty() ? 0 : all.back().shares.size()](const Chosen& chosen) {
    return chosen.shares.size() != blocks;
  });
  return all;
}

// Every step counts alike.
BlockShares mean_of(ChosenSpan all) {
  BlockShares mean(all.back().shares.size(), std::vector<double>(all.back().shares.front().size()));
  double steps = 0;
  for (const Chosen& chosen : all) steps += static_cast<double>(chosen.step - chosen.before);
  for (const Chosen& chosen : all) {
    const double weight = static_cast<double>(chosen.step - chosen.before) / steps;
    for (std::size_t block = 0; block < mean.size(); ++block) {
      std::ranges::transform(mean[block], chosen.shares[block], mean[block].begin(),
                             [&](double sum, double share) { return sum + weight * share; });
    }
  }
  return mean;
}

Json curves(ChosenSpan all, std::size_t options, std::size_t columns) {
  std::vector<PointSeries> series(options);
  const std::size_t stretches = std::min(columns, all.size());
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = i * all.size() / stretches, end = (i + 1) * all.size() / stretches;
    const std::vector<double> mean = over_blocks(mean_of(all.subspan(begin, end - begin)));
    const auto step = static_cast<double>(all[end - 1].step);
    for (std::size_t option = 0; option < options; ++option) series[option].add(step, mean[option]);
  }
  Json list = Json::array();
  for (const PointSeries& one : series) list.push_back(to_json(one));
  return list;
}

// "layer1.0" of "layer1.0.conv1" and "layer1.0.conv2", or of itself and one of these.
std::string common_name(const std::string& a, const std::string& b) {
  if (b == a || b.starts_with(a + ".")) return a;
  const std::string common(a.begin(), std::ranges::mismatch(a, b).in1);
  return common.substr(0, common.rfind('.'));
}

// By number, as `bitcycle eval` has them, and by what their layers' names have in common.
std::vector<std::string> block_names(const Recipe& recipe, std::size_t blocks) {
  std::vector<std::string> within(blocks);
  for (const LayerInfo& layer : layers_of(recipe)) {
    if (layer.block < 0 || static_cast<std::size_t>(layer.block) >= blocks) continue;
    std::string& name = within[static_cast<std::size_t>(layer.block)];
    name = name.empty() ? layer.name : common_name(name, layer.name);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < blocks; ++i) {
    names.push_back(fmt::format("{}{}{}", i + 1, within[i].empty() ? "" : ", ", within[i]));
  }
  return names;
}

Json blocks_json(const Recipe& recipe, ChosenSpan all) {
  const ChosenSpan last = all.last(std::max<std::size_t>(1, all.size() / 10));
  Json shares = Json::array();
  for (const std::vector<double>& block : mean_of(last)) {
    Json row = Json::array();
    for (const double share : block) row.push_back(rounded(share, 4));
    shares.push_back(std::move(row));
  }
  return {{"names", block_names(recipe, last.back().shares.size())},
          {"shares", std::move(shares)},
          {"from", last.front().before + 1},
          {"to", last.back().step}};
}

std::optional<std::vector<double>> shares_in(const Json& block, std::size_t options) {
  if (!block.is_array() || block.size() != options) return std::nullopt;
  std::vector<double> shares;
  for (const Json& share : block) {
    if (!share.is_number()) return std::nullopt;
    shares.push_back(share.get<double>());
  }
  return shares;
}

}  // namespace

std::optional<BlockShares> choices_in(const Json& line, std::size_t options) {
  const auto blocks = line.find("choices");
  if (blocks == line.end() || !blocks->is_array() || blocks->empty()) return std::nullopt;
  BlockShares all;
  for (const Json& block : *blocks) {
    auto shares = shares_in(block, options);
    if (!shares) return std::nullopt;
    all.push_back(std::move(*shares));
  }
  return all;
}

std::vector<double> over_blocks(const BlockShares& shares) {
  std::vector<double> mean(shares.front().size());
  for (const std::vector<double>& block : shares) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += block[i] / static_cast<double>(shares.size());
    }
  }
  return mean;
}

Json choices_view(const RunRecord& record, const ViewOptions& options) {
  if (!record.recipe || !record.recipe->precision.dynamic) return nullptr;
  const std::vector<PrecisionOption>& choices = record.recipe->precision.dynamic->options;
  const std::vector<Chosen> all = chosen_in(record.steps, choices.size());
  if (all.empty()) return nullptr;
  Json names = Json::array();
  for (const PrecisionOption option : choices) names.push_back(to_text(option));
  return {{"options", std::move(names)},
          {"curves", curves(all, choices.size(), options.columns)},
          {"blocks", blocks_json(*record.recipe, all)}};
}

}  // namespace bitcycle
