#include "events/stage_json.h"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> number(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

Json to_json(const StageChange& change) {
  Json json = {
      {"step", change.step}, {"from", change.from}, {"to", change.to}, {"reason", change.reason}};
  if (change.difference) json["difference"] = *change.difference;
  if (change.threshold) json["threshold"] = *change.threshold;
  return json;
}

std::optional<StageChange> stage_from_json(const Json& json) {
  if (!json.is_object() || !json.value("step", Json()).is_number_integer()) return std::nullopt;
  for (const char* name : {"from", "to", "reason"}) {
    if (!json.value(name, Json()).is_string()) return std::nullopt;
  }
  return StageChange{.step = json["step"],
                     .from = json["from"],
                     .to = json["to"],
                     .reason = json["reason"],
                     .difference = number(json, "difference"),
                     .threshold = number(json, "threshold")};
}

}  // namespace bitcycle
