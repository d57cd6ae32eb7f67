#pragma once

// JSON as text, the one way in which commands and run files write it. Paths of this machine need
// not be UTF-8, JSON must be: bytes that are not become U+FFFD, the replacement character.

#include <string>

#include <nlohmann/json.hpp>

namespace bitcycle {

// On one line, or with lines indented by `indent` spaces a level.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace bitcycle
