#pragma once

// Options that people know from other training programs. Here a recipe says these things, and
// --set lays a value over it; who types the other option is told so.

#include <string>
#include <vector>

namespace bitcycle::cli {

// What to write in place of those of `arguments` that are such options and among the `unknown`
// ones, as a sentence without its full stop; "" when none is. Where the command should be about
// something else, that comes first, so that all of it together is a command line.
std::string habit_hint(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& unknown);

// The command that people mean who type one of another program; "" when there is none.
std::string command_hint(const std::string& typed);

}  // namespace bitcycle::cli
