#pragma once

// How many samples of the training set are kept, of those that there are.

#include "bitcycle/base/error.h"

#include <cstdint>
#include <string>

namespace bitcycle {

// `wanted`, or all where that is 0. Throws Error(usage) where there are fewer.
inline std::int64_t kept_count(std::int64_t wanted, std::int64_t all, const std::string& unit) {
  if (wanted <= all) return wanted == 0 ? all : wanted;
  throw Error(ErrorCode::usage,
              "expected at most the " + std::to_string(all) + " " + unit +
                  " of the training set, found " + std::to_string(wanted),
              "Take fewer of them, or all: --samples all.");
}

}  // namespace bitcycle
