#pragma once

// Text inside SVG.

#include <string>
#include <string_view>

namespace bitcycle {

inline std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    const std::string_view entity = c == '<'   ? "&lt;"
                                    : c == '>' ? "&gt;"
                                    : c == '&' ? "&amp;"
                                    : c == '"' ? "&quot;"
                                               : std::string_view(&c, 1);
    safe += entity;
  }
  return safe;
}

}  // namespace bitcycle
