#pragma once

// One file a command. add_<command> declares the command's options on the app and, when the user
// chose it, leaves in `action` what to run; the action returns the exit status.

#include <functional>

#include <CLI/CLI.hpp>

namespace bitcycle::cli {

using Action = std::function<int()>;

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
