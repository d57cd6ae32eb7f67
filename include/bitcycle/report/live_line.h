#pragma once

// Progress on one line that is rewritten in place on a terminal, and on plain lines elsewhere.

#include <cstdio>
#include <string>

namespace bitcycle {

class LiveLine {
 public:
  explicit LiveLine(std::FILE* stream);
  ~LiveLine();

  bool live() const { return live_; }
  // Columns that a line may have: those of the terminal but one, 79 where nobody knows.
  std::size_t width() const;
  // Rewrites the live line, cut to the terminal's width; does nothing when the stream is no
  // terminal.
  void update(const std::string& text);
  // Prints a line that stays, above the live one.
  void print(const std::string& text);

 private:
  void clear();

  std::FILE* stream_;
  bool live_;
  bool shown_ = false;
};

// "48 s", "3 min 20 s", "2 h 5 min".
std::string readable_duration(double seconds);

}  // namespace bitcycle
