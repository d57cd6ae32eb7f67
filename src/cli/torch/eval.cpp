// `bitcycle eval` itself, in the program that has LibTorch.

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/events/evaluations_file.h"
#include "bitcycle/events/timing_file.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/session.h"

#include "base/json_text.h"
#include "cli/runs/run_checkpoint.h"
#include "cli/runs/run_paths.h"
#include "cli/torch/load_checkpoint.h"
#include "cli/torch_commands.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

Split split_of(const EvalOptions& options, const Recipe& recipe) {
  if (options.split == "test") return Split::test;
  if (options.split == "train") return Split::train;
  if (has_validation(recipe.data)) return Split::validation;
  throw Error(ErrorCode::usage, "the run has no validation split (data.validation = 0)",
              "Use --split test.");
}

struct WidthScore {
  std::string bits;
  Score score;
  std::string widths = {};  // what "max" and "current" came to; of gates nothing
};

std::string widths_of(Session& session, const EvaluationBits& bits, Step step) {
  if (session.gates() != nullptr) return "";
  return forward_text(session.policy().evaluation(bits, step - 1).common);
}

// What the gates chose, and what each option in place of it scores.
struct GateScores {
  std::vector<std::string> options;
  std::vector<std::vector<double>> shares;  // by block and option
};

// Of a run with gates: as they choose, then at each option.
GateScores score_gates(Session& session, const DynamicRecipe& recipe, Split split, Step step,
                       std::vector<WidthScore>& rows) {
  GateScores result;
  GatesImpl& gates = *session.gates();
  const EvaluationBits as_chosen{EvaluationBits::Kind::current};
  gates.take_evaluated();
  rows.push_back({"as chosen", session.score(split, as_chosen, step - 1)});
  result.shares = choice_shares(gates.take_evaluated());
  for (std::size_t i = 0; i < recipe.options.size(); ++i) {
    result.options.push_back(to_text(recipe.options[i]));
    gates.force([i](std::size_t, std::int64_t samples) {
      return std::vector<int>(static_cast<std::size_t>(samples), static_cast<int>(i));
    });
    rows.push_back({result.options.back(), session.score(split, as_chosen, step - 1)});
  }
  gates.force({});
  return result;
}

void print_choices(const GateScores& gates) {
  std::vector<std::string> titles = {"block"};
  for (const std::string& option : gates.options) titles.push_back(option + " %");
  Table table(titles);
  for (std::size_t i = 0; i < gates.shares.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(i + 1)};
    for (const double share : gates.shares[i]) cells.push_back(fmt::format("{:.1f}", 100 * share));
    table.add_row(cells);
  }
  fmt::print("\nwhat the gates chose, of activation and error bits:\n{}", table.text());
}

void print_text(const std::vector<WidthScore>& rows, const EvalOptions& options, Step step) {
  const Score& first = rows.front().score;
  std::vector<std::string> titles = {"bits"};
  for (const Measured& measured : first.metrics) titles.push_back(measured.metric.name);
  Table table(titles);
  for (const WidthScore& row : rows) {
    std::vector<std::string> cells = {evaluation_text(row.bits, row.widths)};
    for (const auto& [metric, value] : row.score.metrics) cells.push_back(metric.text(value));
    table.add_row(cells);
  }
  fmt::print("{}, step {}, {} {} of the {} split\n{}", options.run, step, first.count, first.unit,
             options.split, table.text());
}

void print_json(const std::vector<WidthScore>& rows, const GateScores& gates,
                const EvalOptions& options, Step step) {
  const Score& first = rows.front().score;
  nlohmann::ordered_json json = {{"run", options.run},
                                 {"step", step},
                                 {"split", options.split},
                                 {first.unit, first.count},
                                 {"results", nlohmann::ordered_json::array()}};
  for (const WidthScore& row : rows) {
    nlohmann::ordered_json result = {{"bits", row.bits}};
    for (const auto& [metric, value] : row.score.metrics) result[metric.name] = value;
    if (!row.widths.empty()) result["widths"] = row.widths;
    json["results"].push_back(std::move(result));
  }
  if (!gates.shares.empty()) {
    json["options"] = gates.options;
    json["choices"] = gates.shares;
  }
  fmt::print("{}\n", json_text(json, 2));
}

void tell_of(DamagedEvaluations damaged) {
  if (damaged == DamagedEvaluations::none) return;
  narrate(fmt::format(
      "note: {} was damaged, and is written anew{}\n", kEvaluationsFile,
      damaged == DamagedEvaluations::lost
          ? ""
          : fmt::format("; the damaged one is kept as {}{}", kEvaluationsFile, kDamagedEnding)));
}

// So that reports have them. Whoever may only read a run still sees what it scores.
void store_with_run(const std::vector<WidthScore>& rows, const EvalOptions& options, Step step) {
  std::vector<StoredEvaluation> evaluations;
  for (const WidthScore& row : rows) {
    evaluations.push_back({options.checkpoint, step, options.split, row.bits, {}});
    for (const auto& [metric, value] : row.score.metrics) {
      evaluations.back().metrics.emplace_back(metric.name, value);
    }
  }
  try {
    tell_of(store_evaluations(options.run, evaluations));
  } catch (const Error& error) {
    narrate(fmt::format("note: the result is not stored with the run: {}\n", error.what()));
  }
}

}  // namespace

int run_eval(const EvalOptions& options) {
  use_caching_allocator();
  const Recipe recipe = recipe_of_run(options.run);
  const auto widths = parse_widths(options.bits.empty() ? recipe.evaluation.bits : options.bits);
  const auto split = split_of(options, recipe);
  RunCheckpoint checkpoint = read_checkpoint(options.run, options.checkpoint);
  const Step step = checkpoint.step;
  Session session(recipe, options.run);
  load_checkpoint(session, std::move(checkpoint));
  std::vector<WidthScore> rows;
  GateScores gates;
  if (options.bits.empty() && session.gates() != nullptr) {
    gates = score_gates(session, *recipe.precision.dynamic, split, step, rows);
  } else {
    for (const Width& width : widths) {
      rows.push_back({width.text, session.score(split, width.bits, step - 1),
                      widths_of(session, width.bits, step)});
    }
  }
  store_with_run(rows, options, step);
  if (options.json) {
    print_json(rows, gates, options, step);
    return 0;
  }
  print_text(rows, options, step);
  if (!gates.shares.empty()) print_choices(gates);
  return 0;
}

}  // namespace bitcycle::cli
