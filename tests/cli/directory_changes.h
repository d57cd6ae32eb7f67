#pragma once

// Ends or stops this process at a chosen call that changes a directory: the test program's own
// open, write, fsync, rename and so on stand before the C library's, count the calls that change
// what lies below the directory, and raise a signal at one of them.

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

enum class Moment {
  before,  // the call; which is also after the one before it
  amid,    // of a write: half of the bytes are written
};

struct Interruption {
  int call = 0;  // counted from 1; 0: none, the calls are only recorded
  Moment moment = Moment::before;
  int signal = SIGKILL;
};

// From now on counts the calls below `directory` of this process.
void interrupt(const std::filesystem::path& directory, const Interruption& interruption);

// Names of the calls, in the order in which the processes forked from this one made them since
// forget_changes(). The list is shared with them.
std::vector<std::string> changes();
void forget_changes();

}  // namespace bitcycle
