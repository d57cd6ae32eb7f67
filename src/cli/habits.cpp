#include "cli/habits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

struct Habit {
  std::string_view option;  // or command; without dashes, words joined by _
  std::string_view meant;   // a recipe's key, or an option or command that there is
};

constexpr std::array kHabits = {Habit{"steps", "steps"},
                                Habit{"max_steps", "steps"},
                                Habit{"iters", "steps"},
                                Habit{"iterations", "steps"},
                                Habit{"epochs", "epochs"},
                                Habit{"max_epochs", "epochs"},
                                Habit{"lr", "optimizer.lr"},
                                Habit{"learning_rate", "optimizer.lr"},
                                Habit{"momentum", "optimizer.momentum"},
                                Habit{"wd", "optimizer.weight_decay"},
                                Habit{"weight_decay", "optimizer.weight_decay"},
                                Habit{"optimizer", "optimizer.name"},
                                Habit{"batch", "data.batch_size"},
                                Habit{"batch_size", "data.batch_size"},
                                Habit{"dataset", "data.dataset"},
                                Habit{"data", "data.root"},
                                Habit{"data_dir", "data.root"},
                                Habit{"data_path", "data.root"},
                                Habit{"workers", "data.workers"},
                                Habit{"num_workers", "data.workers"},
                                Habit{"model", "model.name"},
                                Habit{"arch", "model.name"},
                                Habit{"pretrained", "model.weights"},
                                Habit{"weights", "model.weights"},
                                Habit{"bits", "precision.forward"},
                                Habit{"grad_bits", "precision.backward"},
                                Habit{"backend", "precision.backend"},
                                Habit{"seed", "seed"},
                                Habit{"device", "device"},
                                Habit{"threads", "threads"},
                                Habit{"print_freq", "log_every"},
                                Habit{"output_dir", "--run-dir"},
                                Habit{"save_dir", "--run-dir"},
                                Habit{"config", "the recipe, without an option"}};

constexpr std::array kCommands = {Habit{"test", "eval RUN"},
                                  Habit{"evaluate", "eval RUN"},
                                  Habit{"validate", "eval RUN"},
                                  Habit{"val", "eval RUN"},
                                  Habit{"infer", "predict RUN PICTURE"},
                                  Habit{"inference", "predict RUN PICTURE"},
                                  Habit{"classify", "predict RUN PICTURE"},
                                  Habit{"fit", "train RECIPE"},
                                  Habit{"run", "train RECIPE"},
                                  Habit{"finetune", "train RECIPE --set model.weights=FILE"},
                                  Habit{"resume", "train RUN --resume"},
                                  Habit{"continue", "train RUN --resume"},
                                  Habit{"plot", "report RUN"},
                                  Habit{"list", "recipes"},
                                  Habit{"download", "data get DATASET"},
                                  Habit{"benchmark", "bench step"}};

struct Typed {
  std::string option, value;
};

Typed split(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  std::string option = argument.substr(0, equals);
  option.erase(0, option.find_first_not_of('-'));
  std::ranges::replace(option, '-', '_');
  return {option, equals == std::string::npos ? "" : argument.substr(equals + 1)};
}

bool is_key(std::string_view meant) {
  return !meant.starts_with('-') && meant.find(' ') == std::string_view::npos;
}

// "--set optimizer.lr=0.1" for "--lr 0.1"; "" for what is no habit.
std::string in_our_words(Typed typed, const std::string& next) {
  const auto habit = std::ranges::find(kHabits, typed.option, &Habit::option);
  if (habit == kHabits.end()) return "";
  if (typed.value.empty()) typed.value = next.empty() || next.starts_with('-') ? "VALUE" : next;
  if (is_key(habit->meant)) return fmt::format("--set {}={}", habit->meant, typed.value);
  return fmt::format("{}{}", habit->meant, habit->meant.starts_with('-') ? " " + typed.value : "");
}

// "train DIR --resume" for "train mine.toml --resume DIR", in which DIR is one argument too many.
bool is_run_to_resume(const std::vector<std::string>& arguments, std::size_t i) {
  return i > 0 && arguments[i - 1] == "--resume" && !arguments[i].starts_with('-');
}

}  // namespace

std::string command_hint(const std::string& typed) {
  const auto habit = std::ranges::find(kCommands, typed, &Habit::option);
  return habit == kCommands.end() ? "" : fmt::format("Write bitcycle {}.", habit->meant);
}

std::string habit_hint(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& unknown) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (std::ranges::find(unknown, arguments[i]) == unknown.end()) continue;
    if (is_run_to_resume(arguments, i)) {
      words.push_back(fmt::format("bitcycle train {} --resume", arguments[i]));
    }
    if (!arguments[i].starts_with('-')) continue;
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    const std::string ours = in_our_words(split(arguments[i]), next);
    if (!ours.empty()) words.push_back(ours);
  }
  return words.empty() ? "" : fmt::format("Write {}", fmt::join(words, " "));
}

}  // namespace bitcycle::cli
