#include "cli/shell_word.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace bitcycle::cli {
namespace {

bool is_plain(unsigned char c) {
  constexpr std::string_view kSigns = "_-./:=,+@%";
  return std::isalnum(c) != 0 || kSigns.find(static_cast<char>(c)) != kSigns.npos;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace bitcycle::cli
