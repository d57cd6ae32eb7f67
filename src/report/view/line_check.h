#pragma once

// Values in a run's logs that are not what they should be: a text in the place of a number, a
// number in that of a list. Whoever draws takes what is right; this tells what was left out.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

class LineCheck {
 public:
  explicit LineCheck(std::string file) : file_(std::move(file)) {}

  // A line, with its number in the file, from 1.
  void look_at(const nlohmann::ordered_json& line, std::size_t number);
  // "\"loss\" in 2 lines of metrics.jsonl, line 3 first, is no number, and left out."
  std::vector<std::string> notices() const;

 private:
  struct Fault {
    std::string expected;
    std::size_t lines = 0, first = 0;
  };

  void look_at_layers(const nlohmann::ordered_json& layers, std::size_t number);
  void tell(const std::string& member, const std::string& expected, std::size_t number);

  std::string file_;
  std::map<std::string, Fault> faults_;  // by member
};

}  // namespace bitcycle
