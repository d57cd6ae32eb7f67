#pragma once

// One of several disjoint parts of a training set, so that a network can be trained on one part and
// adapted on another. docs/data.md says which samples each has.

#include <cstdint>
#include <string>
#include <string_view>

namespace bitcycle {

struct Part {
  std::int64_t number = 1;  // from 1
  std::int64_t of = 1;

  bool whole() const { return of == 1; }
  // Of `count` things in a row, this part has those from begin to before end. The parts differ by
  // one at most and together have all of them.
  std::int64_t begin(std::int64_t count) const { return cut(number - 1, count); }
  std::int64_t end(std::int64_t count) const { return cut(number, count); }

 private:
  // floor(cut * count / of), whatever the size of `count`.
  std::int64_t cut(std::int64_t at, std::int64_t count) const {
    return at * (count / of) + at * (count % of) / of;
  }
};

// "1/2" is the first of two. Throws Error(usage).
Part parse_part(std::string_view text);
std::string to_text(const Part& part);

}  // namespace bitcycle
