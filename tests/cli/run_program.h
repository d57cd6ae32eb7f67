#pragma once

// Runs the bitcycle program of this build as a user would. For tests declared with
// bitcycle_command_test, which define BITCYCLE_PROGRAM.

#include <array>
#include <cstdio>
#include <string>

#include <sys/wait.h>

namespace bitcycle {

struct Outcome {
  int status = -1;
  std::string text;  // what it printed
};

// Runs it through the shell; `arguments` may redirect, `environment` may set variables.
inline Outcome run_program(const std::string& arguments, const std::string& environment = "") {
  const std::string line = environment + " " BITCYCLE_PROGRAM " " + arguments;
  std::FILE* pipe = popen(line.c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    outcome.text.append(part.data(), count);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

}  // namespace bitcycle
