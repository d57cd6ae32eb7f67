#include "bitcycle/base/error.h"

namespace bitcycle {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::recipe:
      return "recipe";
    case ErrorCode::data:
      return "data";
    case ErrorCode::io:
      return "io";
    case ErrorCode::checkpoint:
      return "checkpoint";
    case ErrorCode::diverged:
      return "diverged";
    case ErrorCode::network:
      return "network";
    case ErrorCode::memory:
      return "memory";
  }
  return "unknown";
}

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::recipe:
      return 2;
    case ErrorCode::data:
      return 3;
    case ErrorCode::io:
      return 4;
    case ErrorCode::checkpoint:
      return 5;
    case ErrorCode::diverged:
      return 6;
    case ErrorCode::network:
      return 7;
    case ErrorCode::memory:
      return 8;
  }
  return 1;
}

}  // namespace bitcycle
