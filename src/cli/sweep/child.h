#pragma once

// A process of this program's own that trains one cell. It leaves the terminal to its parent: its
// words go to a file, and a Ctrl-C reaches it through the parent alone. When the parent dies,
// however it does, the child is told to stop, and saves.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bitcycle::cli {

struct ChildOptions {
  std::vector<std::string> arguments;  // without the program's name
  std::filesystem::path output;        // stdout and stderr, written anew
  int threads = 1;                     // unless its recipe asks for a number
};

class Child {
 public:
  // Throws Error(io) when it cannot be started.
  explicit Child(const ChildOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  // Stops it and waits.
  ~Child();

  // Its exit status, 128 + n when signal n ended it; nothing while it runs.
  std::optional<int> status();
  void signal(int number) const;

 private:
  pid_t process_ = -1;
  std::optional<int> status_;
};

}  // namespace bitcycle::cli
