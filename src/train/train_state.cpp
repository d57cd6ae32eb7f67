#include "bitcycle/train/train_state.h"

#include "bitcycle/base/error.h"

#include "base/json_text.h"

#include <cmath>
#include <limits>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;  // 1 had no `run` and `data`

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
        "or start it anew. `bitcycle eval` still reads its weights.");
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
    const bool fits = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    if (!fits) fail(name, "a whole number from 0");
    field = value;
  }

  void require(bool holds, const char* name, const std::string& expected) const {
    if (!holds) fail(name, expected);
  }

 private:
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

}  // namespace

std::string to_json(const TrainState& state) {
  Json json = {{"format", kFormat}};
  TrainState::fields(state, [&](const char* name, const auto& field) { json[name] = field; });
  return json_text(json, 2) + "\n";
}

TrainState train_state_from_json(const std::string& text, const std::string& origin, Step step) {
  const StateReader read(text, origin);
  read.check_format();
  TrainState state;
  TrainState::fields(state, read);
  const std::string at_most = "at most " + std::to_string(step);
  read.require(state.step == step, "step", std::to_string(step));
  read.require(state.window_steps <= step, "window_steps", at_most);
  read.require(state.window_correct <= state.window_samples, "window_correct",
               "at most " + std::to_string(state.window_samples));
  read.require(state.best_step <= step, "best_step", at_most);
  read.require(state.best_accuracy <= 100, "best_accuracy", "at most 100");
  read.require(state.lost_best_step <= step, "lost_best_step", at_most);
  read.require(state.lost_best_accuracy <= 100, "lost_best_accuracy", "at most 100");
  return state;
}

}  // namespace bitcycle
