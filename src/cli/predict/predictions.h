#pragma once

// What a network answers to a picture, for people and for programs.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

struct Guess {
  int number = 0;  // of the class
  std::string name;
  double probability = 0;
};

// The `top` most probable classes, the best first; of equal ones the lower number. A class without
// a name is called by its number. Throws Error(diverged) where an answer is not finite.
std::vector<Guess> best_guesses(const std::vector<double>& probabilities,
                                const std::vector<std::string>& names, int top);

struct Prediction {
  std::string picture;
  std::vector<Guess> guesses;
};

// "cat.jpg: cat 93.1 %, dog 6.2 %", a line. It does not depend on what else was asked.
std::string to_line(const Prediction& prediction);
nlohmann::ordered_json to_json(const Prediction& prediction);

}  // namespace bitcycle::cli
