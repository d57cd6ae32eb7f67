#include "cli/predict/predictions.h"

#include "bitcycle/base/error.h"

#include "report/printable.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

void require_finite(const std::vector<double>& probabilities) {
  if (std::ranges::all_of(probabilities, [](double p) { return std::isfinite(p); })) return;
  throw Error(ErrorCode::diverged, "the network's answer is not finite",
              "Ask another checkpoint (--checkpoint), or other bits (--bits).");
}

Guess guess_at(std::size_t number, double probability, const std::vector<std::string>& names) {
  return {static_cast<int>(number), number < names.size() ? names[number] : std::to_string(number),
          probability};
}

}  // namespace

std::vector<Guess> best_guesses(const std::vector<double>& probabilities,
                                const std::vector<std::string>& names, int top) {
  require_finite(probabilities);
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return probabilities[i]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  std::vector<Guess> guesses;
  for (const std::size_t i : order) guesses.push_back(guess_at(i, probabilities[i], names));
  return guesses;
}

std::string to_line(const Prediction& prediction) {
  std::string text = prediction.picture;
  const char* before = ": ";
  for (const Guess& guess : prediction.guesses) {
    text += fmt::format("{}{} {:.1f} %", before, guess.name, 100 * guess.probability);
    before = ", ";
  }
  return printable_line(text) + "\n";
}

void FolderScore::add(const Prediction& prediction) {
  std::string nearest;
  for (const auto& folder : std::filesystem::path(prediction.picture).parent_path()) {
    if (std::ranges::find(classes_, folder.string()) != classes_.end()) nearest = folder;
  }
  if (nearest.empty()) return;
  ++pictures_;
  right_ += prediction.guesses.front().name == nearest ? 1 : 0;
}

std::string FolderScore::text() const {
  if (pictures_ == 0) return "";
  return fmt::format("{} of {} {} in folders called like a class {} taken for it ({:.1f} %)\n",
                     right_, pictures_, pictures_ == 1 ? "picture" : "pictures",
                     pictures_ == 1 ? "is" : "are", 100.0 * right_ / pictures_);
}

nlohmann::ordered_json FolderScore::json() const {
  return {{"pictures", pictures_}, {"right", right_}};
}

nlohmann::ordered_json to_json(const Prediction& prediction) {
  nlohmann::ordered_json json = {{"picture", prediction.picture},
                                 {"classes", nlohmann::ordered_json::array()}};
  for (const Guess& guess : prediction.guesses) {
    json["classes"].push_back(
        {{"name", guess.name}, {"number", guess.number}, {"probability", guess.probability}});
  }
  return json;
}

}  // namespace bitcycle::cli
