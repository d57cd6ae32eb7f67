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
                                Habit{"save_dir", "--run-dir"}};

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

// The value of arguments[i], written with = or behind it; `missing` where there is none.
std::string value_of(const std::vector<std::string>& arguments, std::size_t i,
                     const std::string& missing) {
  const Typed typed = split(arguments[i]);
  if (!typed.value.empty()) return typed.value;
  const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
  return next.empty() || next.starts_with('-') ? missing : next;
}

// "--set optimizer.lr=0.1" for "--lr 0.1"; "" for what is no habit.
std::string in_our_words(const std::vector<std::string>& arguments, std::size_t i) {
  const auto habit = std::ranges::find(kHabits, split(arguments[i]).option, &Habit::option);
  if (habit == kHabits.end()) return "";
  const std::string value = value_of(arguments, i, "VALUE");
  const bool is_key = !habit->meant.starts_with('-');
  return fmt::format("{}{}{}{}", is_key ? "--set " : "", habit->meant, is_key ? "=" : " ", value);
}

// What the command should be about: "train DIR --resume" for "train mine.toml --resume DIR", in
// which DIR is one argument too many, and "train mine.toml" for "train --config mine.toml".
std::string subject_in_our_words(const std::vector<std::string>& arguments, std::size_t i) {
  if (arguments[i].starts_with('-')) {
    if (split(arguments[i]).option != "config") return "";
    return fmt::format("bitcycle {} {}", arguments.front(), value_of(arguments, i, "RECIPE"));
  }
  if (i == 0 || arguments[i - 1] != "--resume") return "";
  return fmt::format("bitcycle train {} --resume", arguments[i]);
}

}  // namespace

std::string command_hint(const std::string& typed) {
  const auto habit = std::ranges::find(kCommands, typed, &Habit::option);
  return habit == kCommands.end() ? "" : fmt::format("Write bitcycle {}.", habit->meant);
}

std::string habit_hint(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& unknown) {
  std::string subject;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (std::ranges::find(unknown, arguments[i]) == unknown.end()) continue;
    if (subject.empty()) subject = subject_in_our_words(arguments, i);
    if (!arguments[i].starts_with('-')) continue;
    const std::string ours = in_our_words(arguments, i);
    if (!ours.empty()) words.push_back(ours);
  }
  if (!subject.empty()) words.insert(words.begin(), subject);
  return words.empty() ? "" : fmt::format("Write {}", fmt::join(words, " "));
}

}  // namespace bitcycle::cli
