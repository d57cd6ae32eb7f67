#pragma once

// The one form in which readers report a file that is not what it should be.

#include "bitcycle/base/error.h"

#include <string>

namespace bitcycle {

inline Error damaged(const std::string& origin, const std::string& expected,
                     const std::string& found) {
  return Error(ErrorCode::data, origin + " is damaged: expected " + expected + ", found " + found,
               "Get the file again; `bitcycle data` says how.");
}

}  // namespace bitcycle
