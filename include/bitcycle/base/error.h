#pragma once

// What users see when something goes wrong. A user mistake or a failing machine is an Error: what
// was expected, what was found, where, and the likely cure, with a stable code that docs/errors.md
// lists and that decides the exit status. Our own mistakes are asserts, never Errors.

#include <stdexcept>
#include <string>
#include <string_view>

namespace bitcycle {

enum class ErrorCode {
  usage,       // the command line is wrong
  recipe,      // the recipe file is wrong
  data,        // a dataset is missing or damaged
  io,          // the machine refused to read or write
  checkpoint,  // a checkpoint is missing, damaged, or of another run
  diverged,    // training produced a value that is not finite
  network,     // a download failed
  memory,      // the machine has too little memory
};

// The name of a code as printed and documented, e.g. "recipe".
std::string_view name(ErrorCode code);

// The exit status of a program that ends on this code: 2 for what the user typed, 3 and up else.
int exit_status(ErrorCode code);

class Error : public std::runtime_error {
 public:
  // `message` says what was expected and what was found, and where; `hint` what to do about it.
  Error(ErrorCode code, const std::string& message, std::string hint = "")
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}

  ErrorCode code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorCode code_;
  std::string hint_;
};

}  // namespace bitcycle
