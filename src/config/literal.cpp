#include "config/literal.h"

#include "config/toml.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

std::string inline_table(const auto& section) {
  std::string text;
  LiteralVisitor visit{[&](const Field& field, const std::string& value) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field.key, value);
  }};
  describe(visit, section);
  return "{ " + text + " }";
}

template <class T>
std::string list(const std::vector<T>& values, std::string (*text_of)(const T&)) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  return "[" + text + "]";
}

}  // namespace

std::string literal(bool value) {
  return value ? "true" : "false";
}

std::string literal(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string literal(const std::string& value) {
  return quoted(value);
}

std::string literal(const std::vector<double>& value) {
  return list<double>(value, [](const double& x) { return literal(x); });
}

std::string literal(const std::vector<int>& value) {
  return list<int>(value, [](const int& x) { return literal(x); });
}

std::string literal(const std::vector<PrecisionOption>& value) {
  return list<PrecisionOption>(value, [](const PrecisionOption& x) {
    return literal(std::vector{x.activation, x.error});
  });
}

std::string literal(const ProgressiveRecipe& value) {
  return inline_table(value);
}

std::string literal(const DynamicRecipe& value) {
  return inline_table(value);
}

std::string literal(const RangeTestRecipe& value) {
  return inline_table(value);
}

std::string literal(const AveragingRecipe& value) {
  return inline_table(value);
}

std::string literal(const std::vector<LayerOverride>& value) {
  return list<LayerOverride>(value, [](const LayerOverride& x) { return inline_table(x); });
}

std::string literal(const ScheduleSpec& value) {
  if (value.name == kAutomaticForward) return quoted(value.name);
  const bool plain = value.name == "static" && value.min.value_or(value.max) == value.max;
  if (!plain) return inline_table(value);
  return value.max == 0 ? "\"fp\"" : std::to_string(value.max);
}

}  // namespace bitcycle
