#include "bitcycle/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace bitcycle {
namespace {

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b);
}

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  std::string best;
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
