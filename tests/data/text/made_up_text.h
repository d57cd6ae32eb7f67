#pragma once

#include <string>

namespace bitcycle {

// A small grammar: who does what, so that there is something to learn.
// Six tokens per line, the line's end being one.
inline std::string made_up_text(int lines, int seed) {
  static const char* const kWho[] = {"the cat", "a dog", "the bird", "an owl"};
  static const char* const kDoes[] = {"sees", "hears", "likes"};
  std::string text;
  unsigned state = static_cast<unsigned>(seed);
  const auto draw = [&](unsigned n) {
    return (state = state * 1664525U + 1013904223U) / 65536 % n;
  };
  for (int i = 0; i < lines; ++i) {
    text += std::string(" ") + kWho[draw(4)] + " " + kDoes[draw(3)] + " " + kWho[draw(4)] + "\n";
  }
  return text;
}

}  // namespace bitcycle
