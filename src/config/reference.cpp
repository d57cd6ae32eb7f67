#include "config/reference.h"

#include "bitcycle/base/nearest.h"

#include "config/literal.h"
#include "config/reader.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

std::string type_of(bool) {
  return "true or false";
}
std::string type_of(double) {
  return "number";
}
std::string type_of(std::integral auto) {
  return "whole number";
}
std::string type_of(const std::string&) {
  return "string";
}
std::string type_of(const std::vector<double>&) {
  return "list of numbers";
}
std::string type_of(const std::vector<int>&) {
  return "list of whole numbers";
}
std::string type_of(const std::vector<PrecisionOption>&) {
  return "string or list of pairs";
}
std::string type_of(const ProgressiveRecipe&) {
  return "table";
}
std::string type_of(const DynamicRecipe&) {
  return "table";
}
std::string type_of(const RangeTestRecipe&) {
  return "table";
}
std::string type_of(const AveragingRecipe&) {
  return "table";
}
std::string type_of(const std::vector<LayerOverride>&) {
  return "list of tables";
}
std::string type_of(const ScheduleSpec&) {
  return "schedule";
}
template <class Enum>
requires std::is_enum_v<Enum> std::string type_of(Enum value) {
  std::string text;
  for (const std::string& word : words(value)) {
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", word);
  }
  return text;
}
template <class T>
std::string type_of(const std::optional<T>&) {
  return type_of(T());
}

struct Row {
  std::string key, text;
};

class Lister {
 public:
  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  template <class T>
  void operator()(const Field& field, const T& value) {
    const std::string key = prefix_ + std::string(field.key), initial = literal(value);
    const std::string type = field.number_too ? type_of(value) + " or number" : type_of(value);
    const bool bounded = field.low != -DBL_MAX;
    std::string about(field.about);
    if (!field.condition.key.empty()) {
      about += fmt::format("; only when `{}` is {}", field.condition.key, field.condition.value);
    }
    if (field.effect == Effect::conduct) about += "; may change on resume";
    rows.push_back({key, fmt::format("| `{}` | {} | {} | {} | {} |", key, type,
                                     initial.empty() ? "unset" : "`" + initial + "`",
                                     bounded ? range_in_words(field) : "", about)});
  }

  std::vector<Row> rows;

 private:
  std::string prefix_;
};

std::vector<Row> list(const auto& section) {
  Lister lister;
  describe(lister, section);
  return lister.rows;
}

std::vector<std::string> texts(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(row.text);
  return texts;
}

}  // namespace

std::vector<std::string> recipe_rows() {
  return texts(list(Recipe()));
}
std::vector<std::string> schedule_rows() {
  return texts(list(ScheduleSpec()));
}
std::vector<std::string> progressive_rows() {
  return texts(list(ProgressiveRecipe()));
}
std::vector<std::string> dynamic_rows() {
  return texts(list(DynamicRecipe()));
}
std::vector<std::string> range_test_rows() {
  return texts(list(RangeTestRecipe()));
}
std::vector<std::string> averaging_rows() {
  return texts(list(AveragingRecipe()));
}
std::vector<std::string> override_rows() {
  return texts(list(LayerOverride()));
}

std::string suggest_key(const std::string& typed, std::span<const std::string> known) {
  if (!nearest_name(typed, known).empty()) return suggest(typed, known);
  for (const Row& row : list(Recipe())) {
    if (row.key.ends_with("." + typed)) return "Did you mean \"" + row.key + "\"?";
  }
  return suggest(typed, known);
}

}  // namespace bitcycle
