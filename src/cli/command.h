#pragma once

// One file a command. add_<command> declares the command's options on the app and, when the user
// chose it, leaves in `action` what to run; the action returns the exit status.

#include <cmath>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace bitcycle::cli {

using Action = std::function<int()>;

// NaN lies within every range of CLI11's, and infinity is a positive number.
inline const CLI::Validator kFinite(
    [](std::string& text) {
      double value = 0;
      const bool odd = CLI::detail::lexical_cast(text, value) && !std::isfinite(value);
      return odd ? "expected a number, found " + text : std::string();
    },
    "");

void add_schedule(CLI::App& app, Action& action);
void add_cost(CLI::App& app, Action& action);
void add_models(CLI::App& app, Action& action);
void add_recipes(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_range_test(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_landscape(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action);

}  // namespace bitcycle::cli
