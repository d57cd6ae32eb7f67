#include "bitcycle/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace bitcycle {
namespace {

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b);
}

// Letters to insert, drop, replace, or swap with a neighbour ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      d[i][j] = std::min({replaced, d[i - 1][j] + 1, d[i][j - 1] + 1});
      const bool swapped =
          i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// What was left out in front is more than a slip, and yet leaves no doubt: "resnet38".
std::string only_ending(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kTelling = 4;  // letters
  std::string found;
  for (const std::string& name : names) {
    if (typed.size() < kTelling || !name.ends_with(typed)) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

}  // namespace

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  std::string best = only_ending(typed, names);
  if (!best.empty()) return best;
  std::size_t best_distance = typed.size() + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(name.size(), typed.size()) / 3);
    if (distance > allowed || distance >= best_distance) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

std::string suggest(std::string_view typed, std::span<const std::string> names) {
  const std::string nearest = nearest_name(typed, names);
  if (!nearest.empty()) return "Did you mean \"" + nearest + "\"?";
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return "Known names: " + list + ".";
}

}  // namespace bitcycle
