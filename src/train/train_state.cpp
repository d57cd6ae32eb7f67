#include "bitcycle/train/train_state.h"

#include "bitcycle/base/error.h"

#include "base/json_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

// 1 had no `run` and `data`; 2 knew no metrics but loss and accuracy, and no sinks but one.
constexpr int kFormat = 3;

// Reads fields and throws in words what is wrong with them.
class StateReader {
 public:
  StateReader(const std::string& text, std::string origin)
      : origin_(std::move(origin)), json_(Json::parse(text, nullptr, /*allow_exceptions=*/false)) {
    if (!json_.is_object()) fail("is not a JSON object");
  }

  void check_format() const {
    const Json format = json_.value("format", Json(1));
    if (format == kFormat) return;
    throw Error(
        ErrorCode::checkpoint,
        origin_ + ": expected format " + std::to_string(kFormat) + ", found " + json_text(format),
        "Another version of Bitcycle wrote this checkpoint: resume the run with that one, "
        "or start it anew.");
  }

  void operator()(const char* name, std::string& field) const {
    const Json& value = member(name);
    if (!value.is_string()) fail(name, "a text");
    field = value;
  }
  void operator()(const char* name, double& field) const {
    const Json& value = member(name);
    if (!value.is_number() || !(value.get<double>() >= 0)) fail(name, "a number from 0");
    field = value;
  }
  template <std::integral Number>
  void operator()(const char* name, Number& field) const {
    const Json& value = member(name);
    if (!is_count(value)) fail(name, "a whole number from 0");
    field = value;
  }
  void operator()(const char* name, MetricSums& field) const {
    constexpr const char* kExpected = "an object of [sum, count above 0]";
    if (!member(name).is_object()) fail(name, kExpected);
    for (const auto& [metric, sum] : member(name).items()) {
      const bool whole = sum.is_array() && sum.size() == 2 && sum[0].is_number() &&
                         sum[1].is_number() && sum[1].get<double>() > 0;
      if (!whole) fail(name, kExpected);
      field += {{metric, sum[0], sum[1]}};
    }
  }
  void operator()(const char* name, PlateauState& field) const {
    const Json& value = member(name);
    const bool whole = value.is_array() && value.size() == 2 && value[0].is_number() &&
                       (value[1].is_number() || value[1].is_null());
    if (!whole || !(value[0].get<double>() >= 0 && value[0].get<double>() <= 1)) {
      fail(name, "[factor from 0 to 1, best loss or null]");
    }
    field.factor = value[0];
    if (!value[1].is_null()) field.best = value[1].get<double>();
  }
  void operator()(const char* name, PolicyState& field) const {
    constexpr const char* kExpected = "an object of lists of numbers";
    if (!member(name).is_object()) fail(name, kExpected);
    for (const auto& [key, values] : member(name).items()) {
      const bool numbers = values.is_array() && std::ranges::all_of(values, [](const Json& value) {
                             return value.is_number();
                           });
      if (!numbers) fail(name, kExpected);
      field[key] = values.get<std::vector<double>>();
    }
  }
  // Only there where it is true.
  void operator()(const char* name, bool& field) const {
    if (!json_.contains(name)) return;
    if (!member(name).is_boolean()) fail(name, "true or false");
    field = member(name);
  }
  // Only runs that have averaged weights have it.
  void operator()(const char* name, std::optional<Step>& field) const {
    if (!json_.contains(name)) return;
    (*this)(name, field.emplace());
    if (*field == 0) fail(name, "a whole number from 1");
  }
  // Only runs with gates have it.
  void operator()(const char* name, ChoiceCounts& field) const {
    if (!json_.contains(name)) return;
    const auto is_counts = [](const Json& block) {
      return block.is_array() && std::ranges::all_of(block, [](const Json& value) {
               return value.is_number() && value.get<double>() >= 0;
             });
    };
    const Json& value = member(name);
    if (!value.is_array() || !std::ranges::all_of(value, is_counts)) {
      fail(name, "a list of lists of numbers from 0");
    }
    field = value.get<ChoiceCounts>();
  }
  void operator()(const char* name, std::map<std::string, std::uint64_t>& field) const {
    const Json& value = member(name);
    if (!value.is_object() || !std::ranges::all_of(value, is_count)) {
      fail(name, "an object of whole numbers from 0");
    }
    for (const auto& [sink, offset] : value.items()) field[sink] = offset;
  }

  void require(bool holds, const char* name, const std::string& expected) const {
    if (!holds) fail(name, expected);
  }

 private:
  static bool is_count(const Json& value) {
    return value.is_number_unsigned() &&
           value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  }
  const Json& member(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) fail("lacks \"" + std::string(name) + "\"");
    return *found;
  }
  [[noreturn]] void fail(const char* name, const std::string& expected) const {
    fail("expected " + expected + " as \"" + name + "\", found " + json_text(member(name)));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(
        ErrorCode::checkpoint, origin_ + ": " + what,
        "No run leaves such a file: remove this checkpoint to go back to the one before, or "
        "start the run anew.");
  }

  std::string origin_;
  Json json_;
};

void put(Json& json, const char* name, const auto& field) {
  json[name] = field;
}
void put(Json& json, const char* name, bool holds) {
  if (holds) json[name] = true;
}
void put(Json& json, const char* name, const std::optional<Step>& field) {
  if (field) json[name] = *field;
}
void put(Json& json, const char* name, const ChoiceCounts& choices) {
  if (!choices.empty()) json[name] = choices;
}
void put(Json& json, const char* name, const PlateauState& plateau) {
  json[name] = {plateau.factor, plateau.best ? Json(*plateau.best) : Json()};
}
void put(Json& json, const char* name, const MetricSums& sums) {
  json[name] = Json::object();
  for (const MetricSum& sum : sums.entries()) json[name][sum.name] = {sum.sum, sum.count};
}

}  // namespace

std::string to_json(const TrainState& state) {
  Json json = {{"format", kFormat}};
  TrainState::fields(state, [&](const char* name, const auto& field) { put(json, name, field); });
  return json_text(json, 2) + "\n";
}

TrainState train_state_from_json(const std::string& text, const std::string& origin, Step step) {
  const StateReader read(text, origin);
  read.check_format();
  TrainState state;
  TrainState::fields(state, read);
  const std::string at_most = "at most " + std::to_string(step);
  read.require(state.step == step, "step", std::to_string(step));
  read.require(state.best_step <= step, "best_step", at_most);
  read.require(state.lost_best_step <= step, "lost_best_step", at_most);
  read.require(state.averaged.value_or(0) <= step, "averaged", at_most);
  return state;
}

}  // namespace bitcycle
