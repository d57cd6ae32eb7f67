#include "report/view/precision_view.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/network/zoo.h"

#include "events/stage_json.h"
#include "report/view/gate_choices.h"
#include "report/view/point_series.h"
#include "report/view/step_bits_source.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
using Role = double MeanBits::*;

constexpr std::array<std::pair<const char*, Role>, 3> kRoles = {{
    {"weight", &MeanBits::weight},
    {"activation", &MeanBits::activation},
    {"error", &MeanBits::error},
}};

std::vector<LayersAtStep> bits_at(const StepBitsSource& source, const std::vector<Step>& steps) {
  std::vector<LayersAtStep> bits;
  for (const Step step : steps) {
    bits.push_back(source.at(step));
    bits.back().layers.clear();
  }
  return bits;
}

// Steps count from 1, as they do in the log: the bits at x are those of the step that made it x.
Json role_curves(const std::vector<Step>& steps, const std::vector<LayersAtStep>& bits,
                 std::size_t points) {
  Json json;
  for (const auto& [name, role] : kRoles) {
    PointSeries series;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.add(static_cast<double>(steps[i] + 1), bits[i].common.*role);
    }
    json[name] = to_json(changes_of(series, points));
  }
  return json;
}

std::string width_text(double bits) {
  return bits == 32 ? "fp" : fmt::format("{:g}", bits);
}

std::string bits_text(const MeanBits& bits) {
  const std::string weight = width_text(bits.weight), activation = width_text(bits.activation);
  const std::string forward = weight == activation ? weight : weight + "w " + activation + "a";
  return forward + "/" + width_text(bits.error);
}

// How much of the time there are which bits, widest last; of means that says nothing.
Json shares(const std::vector<LayersAtStep>& bits) {
  std::map<std::array<double, 3>, std::size_t> counts;
  for (const LayersAtStep& at : bits) {
    ++counts[{at.common.weight, at.common.activation, at.common.error}];
  }
  Json list = Json::array();
  for (const auto& [widths, count] : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(bits.size());
    list.push_back(
        {{"bits", bits_text({widths[0], widths[1], widths[2]})}, {"share", rounded(share, 4)}});
  }
  return list;
}

// Rows of layers, columns of equal stretches of steps; a value is the mean over a stretch. Layers
// that always had the same bits share a row.
class HeatMap {
 public:
  HeatMap(const StepBitsSource& source, Step steps, std::size_t columns)
      : source_(source), steps_(steps), columns_(std::min<std::size_t>(columns, steps)) {
    for (std::size_t column = 0; column < columns_; ++column) add_column(column);
  }

  Json json() const {
    Json json = {{"layers", source_.layers}, {"means", source_.means}, {"edges", edges()}};
    for (const auto& [name, role] : kRoles) json["roles"][name] = rows_of(role);
    return json;
  }

 private:
  static constexpr Step kMostStepsOfColumn = 64;

  Step edge(std::size_t column) const {
    return static_cast<Step>(column) * steps_ / static_cast<Step>(columns_);
  }

  std::vector<Step> edges() const {
    std::vector<Step> result;
    for (std::size_t column = 0; column <= columns_; ++column) result.push_back(edge(column));
    return result;
  }

  void add_column(std::size_t column) {
    const Step begin = edge(column), end = edge(column + 1);
    const Step stride = std::max<Step>(1, (end - begin) / kMostStepsOfColumn);
    std::vector<MeanBits> sums(source_.layers.size());
    double count = 0;
    for (Step step = begin; step < end; step += stride, ++count) {
      const LayersAtStep bits = source_.at(step);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        for (const auto& [name, role] : kRoles) sums[i].*role += bits.layers[i].*role;
      }
    }
    for (MeanBits& sum : sums) {
      for (const auto& [name, role] : kRoles) sum.*role /= count;
    }
    means_.push_back(std::move(sums));
  }

  Json rows_of(Role role) const {
    Json rows = Json::array(), row_of_layer = Json::array();
    std::map<std::vector<double>, std::size_t> known;
    for (std::size_t layer = 0; layer < source_.layers.size(); ++layer) {
      std::vector<double> row;
      for (const auto& column : means_) row.push_back(column[layer].*role);
      const auto [found, added] = known.emplace(row, rows.size());
      if (added) rows.push_back(row_json(row));
      row_of_layer.push_back(found->second);
    }
    return {{"rows", rows}, {"row_of_layer", row_of_layer}};
  }

  static Json row_json(const std::vector<double>& row) {
    Json json = Json::array();
    for (const double value : row) json.push_back(rounded(value, 4));
    return json;
  }

  const StepBitsSource& source_;
  Step steps_;
  std::size_t columns_;
  std::vector<std::vector<MeanBits>> means_;  // by column and layer
};

Json stages_json(const std::vector<StageChange>& stages) {
  Json list = Json::array();
  for (const StageChange& change : stages) list.push_back(to_json(change));
  return list;
}

Json nothing_known() {
  return {{"bits", nullptr}, {"schedule", nullptr}, {"shares", nullptr},
          {"heat", nullptr}, {"logged", false},     {"choices", nullptr}};
}

Json view_of(const StepBitsSource& source, Step done, Step total, const ViewOptions& options) {
  Json json = nothing_known();
  json["logged"] = source.logged;
  if (done > 0) {
    const std::vector<Step> steps = looked_at(done);
    const auto bits = bits_at(source, steps);
    json["bits"] = role_curves(steps, bits, options.points);
    if (!source.means) json["shares"] = shares(bits);
    json["heat"] = HeatMap(source, done, options.columns).json();
  }
  if (source.foreseen && total > 0) {
    const std::vector<Step> steps = looked_at(total);
    json["schedule"] = role_curves(steps, bits_at(source, steps), options.points);
  }
  return json;
}

}  // namespace

std::vector<LayerInfo> layers_of(const Recipe& recipe) {
  if (task_of(recipe.model.name) == TaskKind::language_model) {
    return language_layers(recipe, usual_vocabulary(recipe.model.name));
  }
  return layers_of(picture_network(recipe));
}

Json precision_view(RunRecord& record, const ViewOptions& options) {
  Json json = nothing_known();
  if (knows_bits(record)) {
    try {
      const StepBitsSource source = step_bits_source(record, layers_of(*record.recipe));
      if (!source.notice.empty()) record.notices.push_back(source.notice);
      json = view_of(source, record.steps_done(), record.length().steps, options);
      json["choices"] = choices_view(record, options);
    } catch (const Error& error) {
      record.notices.push_back(std::string("The bits by layer cannot be shown: ") + error.what());
    }
  }
  json["stages"] = stages_json(record.stages);
  return json;
}

}  // namespace bitcycle
