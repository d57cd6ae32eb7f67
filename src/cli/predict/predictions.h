#pragma once

// What a network answers to a picture, for people and for programs.

#include <string>
#include <utility>
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

// Of the pictures in a folder that is called like one of the classes, the nearest such folder above
// a picture, how many are taken for that class.
class FolderScore {
 public:
  explicit FolderScore(std::vector<std::string> classes) : classes_(std::move(classes)) {}

  void add(const Prediction& prediction);
  // "39 of the 80 pictures ...", a line; nothing where no folder is called like a class.
  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  std::vector<std::string> classes_;
  int pictures_ = 0, right_ = 0;
};

}  // namespace bitcycle::cli
