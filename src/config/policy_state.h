#pragma once

// Reads what a policy has left in a checkpoint; what is no state of it is Error(checkpoint).

#include "bitcycle/config/precision_policy.h"

#include <string>
#include <vector>

namespace bitcycle {

// `whose` completes "the state of ...".
class PolicyStateReader {
 public:
  PolicyStateReader(const PolicyState& state, std::string whose)
      : state_(state), whose_(std::move(whose)) {}

  const std::vector<double>& part(const std::string& name) const;
  // A part that is rows of so many numbers.
  const std::vector<double>& rows(const std::string& name, std::size_t width) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const PolicyState& state_;
  std::string whose_;
};

// Whether a number is one of steps or the like.
bool is_count(double value);

}  // namespace bitcycle
