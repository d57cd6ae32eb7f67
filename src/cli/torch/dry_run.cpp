#include "cli/torch/dry_run.h"

#include "bitcycle/base/memory.h"
#include "bitcycle/config/notices.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/table.h"
#include "bitcycle/train/trainer.h"

#include "cli/cost/cost_recipe.h"
#include "cli/schedule/run_bits.h"
#include "cli/schedule/stage_outlook.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <sys/resource.h>

namespace bitcycle::cli {
namespace {

constexpr int kSteps = 12;

// Layers by the first part of their names: "layer1" has "layer1.0.conv1".
struct NetworkPart {
  std::string name;
  int layers = 0;
  std::int64_t macs = 0;
};

std::vector<NetworkPart> parts_of(const std::vector<LayerInfo>& layers) {
  std::vector<NetworkPart> parts;
  for (const LayerInfo& layer : layers) {
    const std::string name = layer.name.substr(0, layer.name.find('.'));
    auto part = std::ranges::find(parts, name, &NetworkPart::name);
    if (part == parts.end()) part = parts.insert(parts.end(), {name});
    ++part->layers;
    part->macs += layer.macs;
  }
  return parts;
}

void print_network(const Rehearsal& rehearsal) {
  const std::vector<NetworkPart> parts = parts_of(rehearsal.layers);
  std::int64_t all = 0;
  for (const NetworkPart& part : parts) all += part.macs;
  Table table({"part", "layers", "MACs", "share %"});
  for (const NetworkPart& part : parts) {
    const double share = 100 * static_cast<double>(part.macs) / static_cast<double>(all);
    table.add_row({part.name, std::to_string(part.layers), std::to_string(part.macs),
                   fmt::format("{:.1f}", share)});
  }
  fmt::print("{}\n", table.text());
}

// The network as the data cut it.
CostSubject subject_of(Recipe recipe, const Rehearsal& rehearsal) {
  const bool pictures = task_of(recipe.model.name) == TaskKind::image_classification;
  if (pictures) {
    const auto& layers = rehearsal.layers;
    const auto classifier =
        std::find_if(layers.rbegin(), layers.rend(), [](const LayerInfo& layer) {
          return layer.kind == LayerKind::linear && !matches(layer, "@gate");
        });
    recipe.model.classes = static_cast<int>(classifier->geometry.out_channels);
  }
  CostSubject subject = recipe_subject(recipe);
  if (!pictures) subject.shape = fmt::format("windows of {} tokens", window_of(recipe));
  subject.layers = rehearsal.layers;
  subject.parameters = rehearsal.parameters;
  return subject;
}

void print_bits(const Recipe& recipe, const RunLength& length) {
  if (is_closed_loop(recipe.precision)) {
    fmt::print("{}\n", outlook_text(recipe, "precision"));
    return;
  }
  print_text(planned_bits(recipe, "precision", length));
  fmt::print("\n");
}

std::uint64_t peak_memory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// As the measured steps go, by the samples or tokens in them.
double expected_seconds(const Rehearsal& rehearsal, const RunLength& length) {
  const double measured = std::accumulate(rehearsal.seconds.begin(), rehearsal.seconds.end(), 0.0);
  const std::vector<double>& work = rehearsal.run_work;
  if (!work.empty()) {
    return measured / rehearsal.work * std::accumulate(work.begin(), work.end(), 0.0);
  }
  return measured / static_cast<double>(rehearsal.seconds.size()) *
         static_cast<double>(length.steps);
}

// What is measured differs with the bits of each step, so the mean speaks for the run; the median
// tells whether something else disturbed it.
void print_time(const Recipe& recipe, const Rehearsal& rehearsal, const RunLength& length) {
  const std::vector<double>& seconds = rehearsal.seconds;
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  const auto [least, most] = std::ranges::minmax(seconds);
  fmt::print("memory: {} at most in these steps, {} are free\n", readable_size(peak_memory()),
             readable_size(available_memory()));
  fmt::print(
      "a step: {:.1f} ms (mean of {}, spread over the run; median {:.1f}, {:.1f} to {:.1f})\n",
      1e3 * mean, seconds.size(), 1e3 * median(seconds), 1e3 * least, 1e3 * most);
  const double every = recipe.evaluation.every_epochs;
  const double epochs =
      static_cast<double>(length.steps) / static_cast<double>(length.steps_per_epoch);
  // The end of the run is evaluated too, wherever in an epoch it is.
  const double evaluations = every > 0 ? std::max(1.0, std::ceil(epochs / every - 1e-9)) : 1;
  fmt::print("the run: {} steps, {} for each epoch, take about {}; besides, {:.0f} evaluation{}\n",
             length.steps, length.steps_per_epoch,
             readable_duration(expected_seconds(rehearsal, length)), evaluations,
             evaluations == 1 ? "" : "s");
}

}  // namespace

int dry_run(const Recipe& recipe, const TrainPaths& paths) {
  Trainer trainer(recipe, paths.run_directory);
  const RunLength& length = trainer.length();
  if (CheckpointStore(paths.run_directory).latest()) {
    narrate("note: " + paths.run_directory.string() +
            " already holds a run: to train, add --resume, or choose another --run-dir\n");
  }
  for (const std::string& warning : trainer.warnings()) narrate("warning: " + warning + "\n");
  for (const std::string& notice : notices(recipe, length)) narrate("note: " + notice + "\n");
  const Rehearsal rehearsal =
      trainer.rehearse(static_cast<int>(std::min<Step>(kSteps, trainer.total_steps())));
  for (const std::string& notice : trainer.notices()) narrate("note: " + notice + "\n");
  fmt::print("recipe {}, backend {}; a run would go to {}\n\n", paths.recipe.string(),
             rehearsal.backend, paths.run_directory.string());
  print_network(rehearsal);
  print_bits(recipe, length);
  print_recipe_cost(recipe, {.path = paths.recipe.string(),
                             .subject = subject_of(recipe, rehearsal),
                             .length = length,
                             .step_work = rehearsal.run_work});
  fmt::print("\n");
  print_time(recipe, rehearsal, length);
  fmt::print("nothing was written\n");
  return 0;
}

}  // namespace bitcycle::cli
