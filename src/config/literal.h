#pragma once

// The values of a recipe as TOML, each on one line, in the shortest form that reads back to the
// same value. An optional that is not set is an empty text, since TOML has no word for it.

#include "config/fields.h"

#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

std::string literal(bool value);
std::string literal(double value);
std::string literal(const std::string& value);
std::string literal(const std::vector<double>& value);
std::string literal(const std::vector<int>& value);
std::string literal(const std::vector<LayerOverride>& value);
std::string literal(const std::vector<PrecisionOption>& value);
std::string literal(const ProgressiveRecipe& value);
std::string literal(const DynamicRecipe& value);
std::string literal(const RangeTestRecipe& value);
std::string literal(const AveragingRecipe& value);
std::string literal(const ScheduleSpec& value);

inline std::string literal(std::integral auto value) {
  return std::to_string(value);
}
template <class Enum>
requires std::is_enum_v<Enum> std::string literal(Enum value) {
  return literal(words(value)[static_cast<std::size_t>(value)]);
}
template <class T>
std::string literal(const std::optional<T>& value) {
  return value ? literal(*value) : "";
}

// Calls add(field, literal) for every key of a section that applies and is set.
template <class Add>
struct LiteralVisitor {
  Add add;
  template <class T>
  void operator()(const Field& field, const T& value) {
    if (!field.condition.met) return;
    const std::string text = literal(value);
    if (!text.empty()) add(field, text);
  }
};
template <class Add>
LiteralVisitor(Add) -> LiteralVisitor<Add>;

}  // namespace bitcycle
