#pragma once

// Reads the values of a recipe out of a TOML document, by the field list, and remembers where each
// one stood, so that contradictions between values can be reported at their place too.

#include "config/fields.h"
#include "config/toml.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

struct PlacedSchedule {
  ScheduleSpec spec;
  toml::source_region where;
};

// Where the values stood: by dotted key, with [i] for the entries of an array.
struct Places {
  toml::source_region document;
  std::map<std::string, toml::source_region> keys;
  std::vector<PlacedSchedule> schedules;

  // The place of the first of these keys that was given, else the document's beginning.
  const toml::source_region& of(std::initializer_list<std::string> keys_by_preference) const;
};

class Reader {
 public:
  // `prefix` is the dotted key of the table with a dot behind it, or empty.
  Reader(const toml::table& table, std::string prefix, Places& places)
      : table_(table), prefix_(std::move(prefix)), places_(places) {}

  template <class T>
  void operator()(const Field& field, T& value) {
    if (const toml::node* node = find(field)) read(field, *node, value);
  }

  // To be called after the last field: throws Error(recipe) at the first key that was not visited.
  void refuse_unknown() const;

 private:
  // The node of a field, if it is given and applies.
  const toml::node* find(const Field& field);
  std::string key(const Field& field) const { return prefix_ + std::string(field.key); }
  [[noreturn]] void fail(const Field& field, const toml::node& node, const std::string& expected,
                         const std::string& hint = "") const;
  const toml::table& table_of(const Field& field, const toml::node& node) const;

  std::int64_t integer(const Field& field, const toml::node& node) const;
  std::size_t word(const Field& field, const toml::node& node, const Words& words) const;
  PrecisionOption option(const Field& field, const toml::node& node) const;

  void read(const Field& field, const toml::node& node, bool& value);
  void read(const Field& field, const toml::node& node, double& value);
  void read(const Field& field, const toml::node& node, std::string& value);
  void read(const Field& field, const toml::node& node, std::vector<double>& value);
  void read(const Field& field, const toml::node& node, std::vector<int>& value);
  void read(const Field& field, const toml::node& node, std::vector<PrecisionOption>& value);
  void read(const Field& field, const toml::node& node, std::vector<LayerOverride>& value);
  void read(const Field& field, const toml::node& node, ScheduleSpec& value);

  void read(const Field& field, const toml::node& node, std::integral auto& value) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(integer(field, node));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(const Field& field, const toml::node& node, Enum& value) {
    value = static_cast<Enum>(word(field, node, words(value)));
  }
  template <class T>
  void read(const Field& field, const toml::node& node, std::optional<T>& value) {
    read(field, node, value.emplace());
  }
  template <class Table>
  requires Is<Table, ProgressiveRecipe> || Is<Table, DynamicRecipe> || Is<Table, RangeTestRecipe> ||
      Is<Table, AveragingRecipe>
  void read(const Field& field, const toml::node& node, Table& value) {
    read_table(table_of(field, node), key(field) + ".", value);
  }
  void read(const Field& field, const toml::node& node, Section auto& value) {
    read_table(table_of(field, node), key(field) + ".", value);
  }

  void read_table(const toml::table& table, const std::string& prefix, auto& value) {
    Reader reader(table, prefix, places_);
    describe(reader, value);
    reader.refuse_unknown();
  }

  const toml::table& table_;
  std::string prefix_;
  Places& places_;
  std::vector<std::string> known_;
};

// "from 1 to 65536", "of at least 0".
std::string range_in_words(const Field& field);

}  // namespace bitcycle
