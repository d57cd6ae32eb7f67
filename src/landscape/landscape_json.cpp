#include "landscape/landscape_json.h"

#include <cmath>
#include <limits>

namespace bitcycle {

using Json = nlohmann::ordered_json;

Json to_json(const LandscapeSubject& subject) {
  const LandscapeSettings& settings = subject.settings;
  return {{"step", subject.step},         {"weights", subject.fingerprint},
          {"bits", settings.bits},        {"grid", settings.grid.points},
          {"range", settings.grid.range}, {"samples", settings.samples},
          {"seed", settings.seed}};
}

std::optional<LandscapeSubject> subject_from_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto member = [&](const char* name) { return json.value(name, Json()); };
  const bool whole = member("step").is_number_unsigned() && member("weights").is_string() &&
                     member("bits").is_string() && member("grid").is_number_unsigned() &&
                     member("range").is_number() && member("samples").is_number_unsigned() &&
                     member("seed").is_number_unsigned();
  if (!whole) return std::nullopt;
  const auto points = json["grid"].get<std::uint64_t>();
  const auto range = json["range"].get<double>();
  if (points < 3 || points > 100'000 || points % 2 == 0 || !(range > 0)) return std::nullopt;
  return LandscapeSubject{.step = json["step"],
                          .fingerprint = json["weights"],
                          .settings = {.bits = json["bits"],
                                       .grid = {static_cast<int>(points), range},
                                       .samples = json["samples"],
                                       .seed = json["seed"]}};
}

std::optional<double> value_from_json(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!json.is_number()) return std::nullopt;
  return json.get<double>();
}

}  // namespace bitcycle
