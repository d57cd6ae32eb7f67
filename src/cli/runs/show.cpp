// `bitcycle show`: a run in the terminal, finished or not.

#include "bitcycle/base/error.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/runs/bits_plots.h"
#include "cli/runs/find_runs.h"
#include "events/stage_json.h"
#include "report/printable.h"
#include "report/view/run_overview.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPlotRows = 6;

void require_run(const fs::path& run) {
  if (holds_run(run)) return;
  throw Error(ErrorCode::usage, "\"" + run.string() + "\" is no run directory",
              "Name a directory that `bitcycle train` has written.");
}

std::string row(const std::string& title, const std::string& text) {
  return fmt::format("  {:<13}{}\n", title, text);
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string state_text(const RunOverview& run) {
  const std::string total =
      run.steps_total == 0 ? "an unknown number of" : std::to_string(run.steps_total);
  return fmt::format("{}, {} of {} steps{}", state_name(run.state), run.steps_done, total,
                     run.epoch ? fmt::format(", epoch {:.2f}", *run.epoch) : "");
}

std::string score_text(const RunOverview& run, const OverviewScore& score) {
  return fmt::format("{} {}, step {}, at {} bits", run.metric->name, run.metric->text(score.value),
                     score.step, or_unknown(evaluation_text(score.bits, score.widths)));
}

std::string cost_rows(const RunOverview& run, const OverviewCost& cost) {
  std::string text =
      row("cost", fmt::format("{:.4g} GBitOPs (rule \"{}\"), {:.1f} % less than static",
                              cost.gbitops, or_unknown(run.counting), cost.saving_percent));
  if (cost.step < run.steps_done) {
    text += row("", fmt::format("up to step {}, the last that was logged", cost.step));
  }
  return text;
}

std::string time_text(const RunOverview& run) {
  const double per_step = *run.seconds / static_cast<double>(std::max<Step>(1, run.steps_done));
  std::string text =
      fmt::format("{}, {:.4g} ms a step", readable_duration(*run.seconds), 1000 * per_step);
  const Step left = run.steps_total - run.steps_done;
  if (run.state == RunState::running && left > 0) {
    text += fmt::format(", about {} left", readable_duration(per_step * static_cast<double>(left)));
  }
  return text;
}

std::string choices_text(const RunOverview& run) {
  std::string text;
  for (const OverviewChoice& choice : run.choices) {
    text +=
        fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", choice.option, 100 * choice.share);
  }
  return text;
}

std::string heading(const RunOverview& run) {
  std::string text = printable_line(run.run) + "\n";
  text += row("network", fmt::format("{} on {}{}", or_unknown(run.model), or_unknown(run.dataset),
                                     run.seed ? fmt::format(", seed {}", *run.seed) : ""));
  text += row("precision",
              fmt::format("{}, backend {}{}", or_unknown(run.precision), or_unknown(run.backend),
                          run.scheme.empty() ? "" : ", scheme " + run.scheme));
  text += row("state", state_text(run));
  if (run.test) text += row("test", score_text(run, *run.test) + " (best weights)");
  if (run.averaged) {
    text +=
        row("averaged", fmt::format("{} (test, {} point{})", score_text(run, run.averaged->test),
                                    run.averaged->points, run.averaged->points == 1 ? "" : "s"));
  }
  if (run.best) text += row("best so far", run.best->split + " " + score_text(run, *run.best));
  if (run.cost) text += cost_rows(run, *run.cost);
  if (run.seconds) text += row("time", time_text(run));
  if (!run.choices.empty()) text += row("last choices", choices_text(run));
  return text;
}

std::vector<double> column(const std::vector<Json>& lines, const std::string& name,
                           const std::string& split = "") {
  std::vector<double> values;
  for (const Json& line : lines) {
    if (!split.empty() && text_in(line, "split") != split) continue;
    if (const auto value = number_in(line, name)) values.push_back(*value);
  }
  return values;
}

std::string plots(const RunRecord& record, const RunOverview& run) {
  const TextPlotOptions options{.max_rows = kPlotRows, .charset = terminal_charset()};
  std::string text = titled("training loss", text_plot(column(record.steps, "loss"), options));
  if (run.metric && run.best) {
    text +=
        titled(run.best->split + " " + run.metric->name,
               text_plot(column(record.evaluations, run.metric->name, run.best->split), options));
  }
  return text + bits_plots(record, options);
}

std::string stages_text(const RunOverview& run) {
  if (run.stages.empty()) return "";
  Table table({"from step", "precision"});
  for (const StageChange& change : run.stages) {
    table.add_row({std::to_string(change.step), change.from + " -> " + change.to});
  }
  return "\n" + table.text();
}

std::string evaluations_text(const RunOverview& run) {
  if (run.evaluations.empty()) return "";
  Table table({"evaluated", "step", "split", "bits", "scores"});
  for (const StoredEvaluation& evaluation : run.evaluations) {
    std::string scores;
    for (const auto& [name, value] : evaluation.metrics) {
      const bool primary = run.metric && run.metric->name == name;
      scores += fmt::format("{}{} {}", scores.empty() ? "" : "  ", name,
                            primary ? run.metric->text(value) : fmt::format("{:.4g}", value));
    }
    table.add_row({evaluation.checkpoint, std::to_string(evaluation.step), evaluation.split,
                   evaluation.bits, scores});
  }
  return "\n" + table.text();
}

std::string notices_text(const RunOverview& run) {
  std::string text;
  for (const std::string& notice : run.notices) text += wrapped("note: " + notice);
  return text.empty() ? "" : "\n" + text;
}

Json score_json(const std::optional<OverviewScore>& score) {
  if (!score) return nullptr;
  return {{"value", score->value},
          {"step", score->step},
          {"split", score->split},
          {"bits", score->bits},
          {"widths", score->widths}};
}

Json averaged_json(const std::optional<OverviewAverage>& averaged) {
  if (!averaged) return nullptr;
  return {{"points", averaged->points}, {"test", score_json(averaged->test)}};
}

Json evaluations_json(const RunOverview& run) {
  Json list = Json::array();
  for (const StoredEvaluation& evaluation : run.evaluations) {
    list.push_back({{"checkpoint", evaluation.checkpoint},
                    {"step", evaluation.step},
                    {"split", evaluation.split},
                    {"bits", evaluation.bits},
                    {"metrics", Json::object()}});
    for (const auto& [name, value] : evaluation.metrics) list.back()["metrics"][name] = value;
  }
  return list;
}

// What is not known is null.
Json to_json(const RunOverview& run) {
  const auto text = [](const std::string& word) { return word.empty() ? Json() : Json(word); };
  Json json = {{"run", run.run},
               {"state", state_name(run.state)},
               {"steps_done", run.steps_done},
               {"steps_total", run.steps_total == 0 ? Json() : Json(run.steps_total)},
               {"epoch", run.epoch ? Json(*run.epoch) : Json()},
               {"model", text(run.model)},
               {"dataset", text(run.dataset)},
               {"seed", run.seed ? Json(*run.seed) : Json()},
               {"precision", text(run.precision)},
               {"backend", text(run.backend)},
               {"scheme", text(run.scheme)},
               {"metric", run.metric ? Json(run.metric->name) : Json()},
               {"best", score_json(run.best)},
               {"test", score_json(run.test)},
               {"averaged", averaged_json(run.averaged)},
               {"counting", text(run.counting)},
               {"gbitops", run.cost ? Json(run.cost->gbitops) : Json()},
               {"gbitops_static", run.cost ? Json(run.cost->gbitops_static) : Json()},
               {"saving_percent", run.cost ? Json(run.cost->saving_percent) : Json()},
               {"cost_step", run.cost ? Json(run.cost->step) : Json()},
               {"training_seconds", run.seconds ? Json(*run.seconds) : Json()},
               {"stages", Json::array()},
               {"choices", Json::object()},
               {"evaluations", evaluations_json(run)},
               {"notices", run.notices}};
  for (const StageChange& change : run.stages) json["stages"].push_back(bitcycle::to_json(change));
  for (const OverviewChoice& choice : run.choices) json["choices"][choice.option] = choice.share;
  return json;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  struct Options {
    std::string run;
    bool json = false;
  };
  auto* command = app.add_subcommand("show", "A run in the terminal: state, score, cost, plots");
  auto options = std::make_shared<Options>();
  command->add_option("run", options->run, "Run directory")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "The run may be finished, going on, stopped or damaged: what can be read is shown, with a\n"
      "note of what is missing.\n"
      "\n"
      "Example:\n"
      "  bitcycle show runs/demo-cpt");
  command->callback([options, &action] {
    action = [options] {
      require_run(options->run);
      const RunRecord record = read_run_record(options->run);
      const RunOverview run = run_overview(record);
      if (options->json) {
        fmt::print("{}\n", json_text(to_json(run), 2));
        return 0;
      }
      fmt::print("{}", printable(heading(run) + plots(record, run) + stages_text(run) +
                                 evaluations_text(run) + notices_text(run)));
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
