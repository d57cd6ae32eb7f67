#pragma once

// Options that people know from other training programs. Here a recipe says these things, and
// --set lays a value over it; who types the other option is told so.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bitcycle::cli {

// The command line to write in place of `arguments`, which `app` did not understand: such options
// in our words, all else as it was typed, what the command is about in front. Where the command
// has no --set: who decides. As a sentence without its full stop; "" when there is nothing to say.
std::string habit_hint(const CLI::App& app, std::vector<std::string> arguments);

// The command that people mean who type one of another program; "" when there is none.
std::string command_hint(const std::string& typed);

}  // namespace bitcycle::cli
