#include "config/reader.h"

#include "bitcycle/base/nearest.h"

#include "config/reference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {

const toml::source_region& Places::of(std::initializer_list<std::string> keys_by_preference) const {
  for (const std::string& key : keys_by_preference) {
    const auto found = keys.find(key);
    if (found != keys.end()) return found->second;
  }
  return document;
}

std::string range_in_words(const Field& field) {
  const auto text = [](double bound) {
    return bound == std::floor(bound) ? fmt::format("{:.0f}", bound) : fmt::format("{}", bound);
  };
  if (field.high == DBL_MAX) return "of at least " + text(field.low);
  if (field.low == field.high) return "equal to " + text(field.low);
  return fmt::format("from {} to {}", text(field.low), text(field.high));
}

void Reader::fail(const Field& field, const toml::node& node, const std::string& expected,
                  const std::string& hint) const {
  throw recipe_error(node.source(),
                     fmt::format("{}: expected {}, found {}", key(field), expected, in_words(node)),
                     hint);
}

const toml::node* Reader::find(const Field& field) {
  known_.emplace_back(field.key);
  const toml::node* node = table_.get(field.key);
  if (node == nullptr) return nullptr;
  places_.keys[key(field)] = node->source();
  const Condition& condition = field.condition;
  if (condition.met) return node;
  // A setting that changes what applies also silences what the file said about the alternative.
  const toml::node* other = table_.get(condition.key);
  const bool overruled = other != nullptr && from_setting(other->source());
  if (overruled && !from_setting(node->source())) return nullptr;
  throw recipe_error(node->source(),
                     fmt::format("{} applies only when {}{} is {}", key(field), prefix_,
                                 condition.key, condition.value),
                     fmt::format("Leave it out, or change {}{}.", prefix_, condition.key));
}

void Reader::refuse_unknown() const {
  for (auto&& [key, node] : table_) {
    const std::string name(key.str());
    if (std::ranges::find(known_, name) != known_.end()) continue;
    throw recipe_error(key.source(), fmt::format("unknown key {}{}", prefix_, name),
                       suggest_key(name, known_));
  }
}

const toml::table& Reader::table_of(const Field& field, const toml::node& node) const {
  if (!node.is_table()) fail(field, node, "a table");
  return *node.as_table();
}

std::int64_t Reader::integer(const Field& field, const toml::node& node) const {
  const auto value = node.value_exact<std::int64_t>();
  const auto fits = [&](double x) { return x >= field.low && x <= field.high; };
  if (value && fits(static_cast<double>(*value))) return *value;
  fail(field, node, "a whole number " + range_in_words(field), std::string(field.cure));
}

std::size_t Reader::word(const Field& field, const toml::node& node, const Words& words) const {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "\"" : ", \"") + word + "\"";
  const auto text = node.value_exact<std::string>();
  if (!text) fail(field, node, (words.size() == 1 ? "" : "one of ") + list);
  const auto found = std::ranges::find(words, *text);
  if (found == words.end()) {
    const std::string near = nearest_name(*text, words);
    fail(field, node, (words.size() == 1 ? "" : "one of ") + list,
         near.empty() ? "" : "Did you mean \"" + near + "\"?");
  }
  return static_cast<std::size_t>(found - words.begin());
}

void Reader::read(const Field& field, const toml::node& node, bool& value) {
  if (!node.is_boolean()) fail(field, node, "true or false");
  value = *node.value<bool>();
}

void Reader::read(const Field& field, const toml::node& node, double& value) {
  const auto number = node.is_number() ? node.value<double>() : std::nullopt;
  // Written so that a NaN does not fit.
  const bool fits = number && *number >= field.low && *number <= field.high;
  if (!fits) fail(field, node, "a number " + range_in_words(field));
  value = *number;
}

void Reader::read(const Field& field, const toml::node& node, std::string& value) {
  if (field.number_too && node.is_integer()) {
    value = std::to_string(*node.value<std::int64_t>());
    return;
  }
  if (!node.is_string()) fail(field, node, "a string");
  value = *node.value<std::string>();
}

void Reader::read(const Field& field, const toml::node& node, std::vector<double>& value) {
  value.clear();
  if (field.number_too && node.is_number()) return read(field, node, value.emplace_back());
  if (!node.is_array()) {
    fail(field, node,
         (field.number_too ? "a number or list of numbers " : "a list of numbers ") +
             range_in_words(field));
  }
  for (const toml::node& entry : *node.as_array()) read(field, entry, value.emplace_back());
}

void Reader::read(const Field& field, const toml::node& node, std::vector<int>& value) {
  if (!node.is_array()) fail(field, node, "a list of whole numbers " + range_in_words(field));
  value.clear();
  for (const toml::node& entry : *node.as_array()) read(field, entry, value.emplace_back());
}

PrecisionOption Reader::option(const Field& field, const toml::node& node) const {
  const toml::array* pair = node.as_array();
  if (pair == nullptr || pair->size() != 2) {
    fail(field, node, "a pair of activation and error bits, such as [4, 8]");
  }
  return {static_cast<int>(integer(field, (*pair)[0])),
          static_cast<int>(integer(field, (*pair)[1]))};
}

void Reader::read(const Field& field, const toml::node& node, std::vector<PrecisionOption>& value) {
  if (node.is_string()) {
    Words names;
    for (const NamedOptions& list : named_options()) names.push_back(list.name);
    value = named_options()[word(field, node, names)].options;
    return;
  }
  if (!node.is_array()) fail(field, node, "\"cifar\", \"imagenet\" or a list of pairs of bits");
  value.clear();
  for (const toml::node& entry : *node.as_array()) value.push_back(option(field, entry));
}

void Reader::read(const Field& field, const toml::node& node, std::vector<LayerOverride>& value) {
  if (!node.is_array()) fail(field, node, "a list of tables, [[precision.override]]");
  value.clear();
  for (const toml::node& entry : *node.as_array()) {
    const std::string name = fmt::format("{}[{}]", key(field), value.size());
    places_.keys[name] = entry.source();
    read_table(table_of(field, entry), name + ".", value.emplace_back());
  }
}

void Reader::read(const Field& field, const toml::node& node, ScheduleSpec& value) {
  value = {};
  if (node.is_integer()) {
    value.min = value.max = static_cast<int>(integer(Field(field).in(0, kMaxBits), node));
  } else if (node.is_string()) {
    value.name = *node.value<std::string>();
    if (value.name == "fp") value = {.min = 0, .max = 0};
  } else if (const toml::table* table = node.as_table()) {
    if (!table->contains("schedule")) {
      throw recipe_error(node.source(), key(field) + ": expected a schedule, found none",
                         "Add schedule = \"CR\", or another of `bitcycle schedule --help`.");
    }
    read_table(*table, key(field) + ".", value);
    if (value.min > value.max) {
      throw recipe_error(places_.of({key(field) + ".min", key(field) + ".max"}),
                         fmt::format("{}: min is {} and max is {}, expected min <= max", key(field),
                                     *value.min, value.max));
    }
  } else {
    fail(field, node, "a width in bits, \"fp\", or a table with a schedule");
  }
  const bool found_by_test =
      key(field) == "precision.forward" && node.is_string() && value.name == kAutomaticForward;
  if (!found_by_test) places_.schedules.push_back({value, node.source()});
}

}  // namespace bitcycle
