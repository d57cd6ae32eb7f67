#include "cli/habits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

struct Habit {
  std::string_view option;  // without dashes, words joined by _
  std::string_view meant;   // a recipe's key, or an option that there is
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

}  // namespace

std::string habit_hint(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& unknown) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool known = std::ranges::find(unknown, arguments[i]) == unknown.end();
    if (!arguments[i].starts_with('-') || known) continue;
    Typed typed = split(arguments[i]);
    const auto habit = std::ranges::find(kHabits, typed.option, &Habit::option);
    if (habit == kHabits.end()) continue;
    if (typed.value.empty()) {
      const bool given = i + 1 < arguments.size() && !arguments[i + 1].starts_with('-');
      typed.value = given ? arguments[i + 1] : "VALUE";
    }
    const bool key = !habit->meant.starts_with('-') && habit->meant.find(' ') == std::string::npos;
    if (key) return fmt::format("Write --set {}={}", habit->meant, typed.value);
    return fmt::format("Write {}{}", habit->meant,
                       habit->meant.starts_with('-') ? " " + typed.value : "");
  }
  return "";
}

}  // namespace bitcycle::cli
