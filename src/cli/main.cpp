// The bitcycle command. Builds twice: as `bitcycle`, which starts in milliseconds, and as
// `bitcycle-torch`, which carries LibTorch and is started by the former when a command needs it.

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/base/version.h"
#include "bitcycle/report/narration.h"

#include "cli/command.h"
#include "cli/habits.h"
#include "cli/standard_streams.h"
#include "report/printable.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

constexpr const char* kDescription =
    "Bitcycle trains neural networks at a precision that changes while they train.\n";
constexpr const char* kExamples =
    "Examples:\n"
    "  bitcycle schedule CR --min 3 --max 8 --cycles 8 --steps 64   see a precision schedule\n"
    "  bitcycle cost cifar_resnet74 --bits 3:8 --grad-bits 8        what a training run costs\n"
    "  bitcycle train demo-cpt                                      train a recipe that ships\n"
    "  bitcycle eval runs/demo-cpt --bits 3,4,6,8,fp                accuracy at each width\n"
    "  bitcycle predict runs/own-pictures cat.jpg folder            what a trained network sees\n"
    "  bitcycle recipes                                             the recipes that ship\n"
    "\n`bitcycle COMMAND --help` or `bitcycle help COMMAND` explains a command.";

// CLI11 only says that a subcommand is missing; people want to know which one they meant.
void check_command(const CLI::App& app, const std::string& typed) {
  if (typed.starts_with('-')) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), typed) != names.end()) return;
  const std::string habit = command_hint(typed);
  throw Error(ErrorCode::usage, "there is no command \"" + typed + "\"",
              habit.empty() ? suggest(typed, names) : habit);
}

// Things that other programs have as options stand in a recipe here.
std::string usage_hint(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::string habit = habit_hint(app, arguments);
  const char* help = "Run with --help for what there is.";
  return habit.empty() ? help : habit + ". " + help;
}

// `bitcycle help COMMAND` is `bitcycle COMMAND --help`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

int run(int argc, char** argv) {
  CLI::App app(kDescription, "bitcycle");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("bitcycle ") + kVersion);
  Action action;
  add_train(app, action);
  add_sweep(app, action);
  add_reproduce(app, action);
  add_range_test(app, action);
  add_eval(app, action);
  add_predict(app, action);
  add_landscape(app, action);
  add_show(app, action);
  add_compare(app, action);
  add_report(app, action);
  add_watch(app, action);
  add_schedule(app, action);
  add_cost(app, action);
  add_models(app, action);
  add_recipes(app, action);
  add_data(app, action);
  add_bench(app, action);
  const std::vector<std::string> arguments = arguments_of(argc, argv);
  if (!arguments.empty()) check_command(app, arguments.front());
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw Error(ErrorCode::usage, error.what(), usage_hint(app, arguments));
  }
  return action();
}

// Output that could not be written is an error like any other.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  throw std::system_error(errno, std::generic_category(), "the output could not be written");
}

int report(const Error& error) {
  narrate(fmt::format("bitcycle: {} error: {}\n", name(error.code()), printable(error.what())));
  if (!error.hint().empty()) narrate(fmt::format("  {}\n", printable(error.hint())));
  return exit_status(error.code());
}

// LibTorch's allocators have no exception of their own for it. oneDNN has decided on a primitive
// when it creates it; what can fail then is the memory for its code.
bool is_out_of_memory(const std::string& message) {
  return message == "could not create a primitive" ||
         message.find("can't allocate memory") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

int report_out_of_memory(const std::string& what) {
  return report(
      Error(ErrorCode::memory, what,
            "Lower data.batch_size, or give it more memory; a run goes on with --resume."));
}

// std::thread gives the system's reason and no more; output has it too where nobody reads, with
// words of its own.
bool is_refused_thread(const std::system_error& error) {
  return error.code() == std::errc::resource_unavailable_try_again &&
         error.what() == error.code().message();
}

// The file system's, and failing output. A reader that has read enough (`| head`) needs no words.
int report(const std::system_error& error) {
  if (error.code() == std::errc::broken_pipe) return exit_status(ErrorCode::io);
  if (is_refused_thread(error)) {
    return report(Error(ErrorCode::memory,
                        fmt::format("the system starts no more threads: {}", error.what()),
                        "Allow more of them (`ulimit -u`, a container's limit of tasks), or use "
                        "fewer: threads, OMP_NUM_THREADS, data.workers."));
  }
  return report(Error(ErrorCode::io, error.what()));
}

// LibTorch appends a stack trace to its messages, which helps nobody here.
int report_unexpected(const std::string& whole) {
  const std::string message = whole.substr(0, whole.find("\nException raised from"));
  if (is_out_of_memory(message)) return report_out_of_memory(message);
  narrate(fmt::format("bitcycle: internal error: {}\n", message));
  narrate("  This is a mistake in Bitcycle; please report it with the command line.\n");
  return 1;
}

}  // namespace
}  // namespace bitcycle::cli

int main(int argc, char** argv) {
  bitcycle::cli::hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error that can be reported
  try {
    return bitcycle::cli::flushed(bitcycle::cli::run(argc, argv));
  } catch (const bitcycle::Error& error) {
    return bitcycle::cli::report(error);
  } catch (const std::system_error& error) {
    return bitcycle::cli::report(error);
  } catch (const std::bad_alloc&) {
    return bitcycle::cli::report_out_of_memory("there is no memory left");
  } catch (const std::exception& error) {
    return bitcycle::cli::report_unexpected(error.what());
  }
}
