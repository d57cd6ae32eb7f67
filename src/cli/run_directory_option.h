#pragma once

// --run-dir, wherever a command writes runs. An empty one is a variable of a script that is not
// set, and files would go to the current directory or to the usual one: neither was asked for.

#include <string>

#include <CLI/CLI.hpp>

namespace bitcycle::cli {

inline void add_run_directory(CLI::App& command, std::string& directory, const std::string& about) {
  const auto named = [](const std::string& given) {
    return given.empty() ? "expected a directory, found \"\"" : "";
  };
  command.add_option("--run-dir", directory, about)->check(CLI::Validator(named, "DIRECTORY"));
}

}  // namespace bitcycle::cli
