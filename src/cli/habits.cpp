#include "cli/habits.h"

#include "cli/shell_word.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <utility>

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
                                Habit{"b", "data.batch_size"},
                                Habit{"batch", "data.batch_size"},
                                Habit{"batch_size", "data.batch_size"},
                                Habit{"dataset", "data.dataset"},
                                Habit{"data", "data.root"},
                                Habit{"data_dir", "data.root"},
                                Habit{"data_path", "data.root"},
                                Habit{"data_root", "data.root"},
                                Habit{"root", "data.root"},
                                Habit{"j", "data.workers"},
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

constexpr std::array<std::string_view, 5> kTakeRecipes = {"train", "range-test", "sweep",
                                                          "schedule", "cost"};
constexpr std::array<std::string_view, 3> kTakeRuns = {"eval", "predict", "landscape"};

// Keys whose values are strings.
constexpr std::array<std::string_view, 7> kTexts = {
    "optimizer.name", "data.dataset",      "data.root", "model.name",
    "model.weights",  "precision.backend", "device"};

struct Typed {
  std::string option, value;  // the option as in Habit, the value if it was written with =
};

Typed split(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  std::string option = argument.substr(0, equals);
  option.erase(0, option.find_first_not_of('-'));
  std::ranges::replace(option, '-', '_');
  return {option, equals == std::string::npos ? "" : argument.substr(equals + 1)};
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_option(const std::string& argument) {
  const bool is_negative = argument.size() > 1 && (is_digit(argument[1]) || argument[1] == '.');
  return argument.starts_with('-') && !is_negative;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// A path or a name that is no TOML.
bool is_name(const std::string& value) {
  constexpr std::array<std::string_view, 4> kToml = {"true", "false", "inf", "nan"};
  const bool begins_so =
      std::isalpha(static_cast<unsigned char>(value[0])) != 0 || value[0] == '/' || value[0] == '.';
  return begins_so && !is_one_of(value, kToml);
}

// --set takes what is no TOML for a string. A name such as 2024 is TOML and has to be quoted.
std::string setting(std::string_view key, const std::string& value) {
  if (!is_one_of(key, kTexts) || is_name(value)) return fmt::format("{}={}", key, value);
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fmt::format("{}=\"{}\"", key, escaped);
}

// Goes through what was typed behind a command's name and collects what to write in its place.
class Translation {
 public:
  Translation(const CLI::App& command, std::vector<std::string> arguments)
      : command_(command), arguments_(std::move(arguments)) {
    while (next_ < arguments_.size()) translate(arguments_[next_++]);
  }

  std::string hint() const {
    if (!keys_of_run_.empty()) {
      return fmt::format("The run decides {}: see its recipe.toml", fmt::join(keys_of_run_, ", "));
    }
    const bool has_run_and_recipe = !run_.empty() && !recipes_.empty();
    if (!differs_ && !has_run_and_recipe) return "";
    const std::string left_out =
        strange_.empty() ? "" : fmt::format("There is no {}. ", fmt::join(strange_, ", "));
    return left_out + "Write " + command_line();
  }

 private:
  bool has(std::string_view option) const {
    return command_.get_option_no_throw(std::string(option)) != nullptr;
  }

  void translate(const std::string& argument) {
    const Typed typed = split(argument);
    if (!is_option(argument)) {
      recipes_.push_back(argument);
    } else if (typed.option == "resume" && command_.get_name() == "train") {
      take_run(typed);
    } else if (has(argument.substr(0, argument.find('=')))) {
      keep(argument);
    } else if (typed.option == "config" && is_one_of(command_.get_name(), kTakeRecipes)) {
      take_recipe(typed);
    } else {
      translate_unknown(argument, typed);
    }
  }

  // Written with =, or behind the option; "" where there is none.
  std::string take_value(const Typed& typed) {
    if (!typed.value.empty()) return typed.value;
    const bool follows = next_ < arguments_.size() && !is_option(arguments_[next_]);
    return follows ? arguments_[next_++] : "";
  }

  // --resume has no value here: who gives one names the run, which has a recipe of its own.
  void take_run(const Typed& typed) {
    run_ = take_value(typed);
    options_.emplace_back("--resume");
    differs_ = differs_ || !typed.value.empty();
  }

  void take_recipe(const Typed& typed) {
    differs_ = true;
    const std::string recipe = take_value(typed);
    if (!recipe.empty()) recipes_ = {recipe};
  }

  void keep(const std::string& argument) {
    options_.push_back(argument);
    const CLI::Option* option = command_.get_option_no_throw(argument);
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    if (takes_value && next_ < arguments_.size()) options_.push_back(arguments_[next_++]);
  }

  void translate_unknown(const std::string& argument, const Typed& typed) {
    const auto habit = std::ranges::find(kHabits, typed.option, &Habit::option);
    const std::string found = take_value(typed);
    if (habit == kHabits.end()) {
      strange_.push_back(argument.substr(0, argument.find('=')));
      return;
    }
    const std::string value = found.empty() ? "VALUE" : found;
    const bool is_key = !habit->meant.starts_with('-');
    if (is_key && is_one_of(command_.get_name(), kTakeRuns)) keys_of_run_.push_back(habit->meant);
    const std::string_view option = is_key ? "--set" : habit->meant;
    if (!has(option)) return;
    differs_ = true;
    options_.insert(options_.end(),
                    {std::string(option), is_key ? setting(habit->meant, value) : value});
  }

  std::vector<std::string> subjects() const {
    if (!run_.empty()) return {run_};
    if (!recipes_.empty() || !is_one_of(command_.get_name(), kTakeRecipes)) return recipes_;
    return {command_.get_name() == "sweep" ? "SWEEP" : "RECIPE"};
  }

  std::string command_line() const {
    std::string line = "bitcycle " + command_.get_name();
    for (const std::string& word : subjects()) line += " " + shell_word(word);
    for (const std::string& word : options_) line += " " + shell_word(word);
    return line;
  }

  const CLI::App& command_;
  std::vector<std::string> arguments_;
  std::size_t next_ = 0;
  std::string run_;                            // of --resume
  std::vector<std::string> recipes_;           // or what else the command is about
  std::vector<std::string> options_;           // and their values
  std::vector<std::string> strange_;           // options that nothing is known of
  std::vector<std::string_view> keys_of_run_;  // that this command cannot change
  bool differs_ = false;                       // from what was typed
};

// Who names none most likely wants to train.
std::string command_of(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == argument; };
    if (std::ranges::any_of(app.get_subcommands({}), is_it)) return argument;
  }
  return "train";
}

}  // namespace

std::string command_hint(const std::string& typed) {
  const auto habit = std::ranges::find(kCommands, typed, &Habit::option);
  return habit == kCommands.end() ? "" : fmt::format("Write bitcycle {}.", habit->meant);
}

std::string habit_hint(const CLI::App& app, std::vector<std::string> arguments) {
  const std::string command = command_of(app, arguments);
  if (const auto typed = std::ranges::find(arguments, command); typed != arguments.end()) {
    arguments.erase(typed);
  }
  std::erase(arguments, "--");
  return Translation(*app.get_subcommand(command), std::move(arguments)).hint();
}

}  // namespace bitcycle::cli
