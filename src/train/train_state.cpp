#include "bitcycle/train/train_state.h"

#include "bitcycle/base/error.h"

#include <nlohmann/json.hpp>

namespace bitcycle {

std::string to_json(const TrainState& state) {
  nlohmann::ordered_json json;
  TrainState::fields(state, [&](const char* name, const auto& field) { json[name] = field; });
  return json.dump(2) + "\n";
}

TrainState train_state_from_json(const std::string& text, const std::string& origin) {
  try {
    const auto json = nlohmann::json::parse(text);
    TrainState state;
    TrainState::fields(state, [&](const char* name, auto& field) { json.at(name).get_to(field); });
    return state;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::checkpoint, origin + ": " + error.what(),
                "The checkpoint was written by another version or is damaged; go back to an older "
                "one.");
  }
}

}  // namespace bitcycle
