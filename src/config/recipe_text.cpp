// A recipe as text: the TOML of all its values, and what differs between two.

#include "bitcycle/base/fingerprint.h"
#include "bitcycle/config/recipe.h"

#include "config/literal.h"

#include <map>

namespace bitcycle {
namespace {

// Writes `key = value` lines, a section after the values that belong to the document itself.
class Writer {
 public:
  enum class Keys { all, of_results };
  explicit Writer(Keys keys) : keys_(keys) {}

  void operator()(const Field& field, const Section auto& section) {
    text_ += "\n[" + std::string(field.key) + "]\n";
    describe(*this, section);
  }
  template <class T>
  void operator()(const Field& field, const T& value) {
    LiteralVisitor visit{[this](const Field& f, const std::string& literal) {
      if (keys_ == Keys::of_results && f.effect == Effect::conduct) return;
      text_ += std::string(f.key) + " = " + literal + "\n";
    }};
    visit(field, value);
  }
  const std::string& text() const { return text_; }

 private:
  Keys keys_;
  std::string text_;
};

// Dotted keys and their literals, of the keys that decide what a run computes.
class Flattener {
 public:
  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  template <class T>
  void operator()(const Field& field, const T& value) {
    LiteralVisitor visit{[this](const Field& f, const std::string& literal) {
      if (f.effect == Effect::result) values_[prefix_ + std::string(f.key)] = literal;
    }};
    visit(field, value);
  }
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  std::string prefix_;
  std::map<std::string, std::string> values_;
};

// The defaults of the keys that recipes did not have from the first, whether they apply or not.
class LaterDefaults {
 public:
  void operator()(const Field& field, const Section auto& section) {
    prefix_ = std::string(field.key) + ".";
    describe(*this, section);
  }
  template <class T>
  void operator()(const Field& field, const T& value) {
    if (field.added_later) values_[prefix_ + std::string(field.key)] = literal(value);
  }
  bool has(const std::string& key, const std::string& literal) const {
    const auto found = values_.find(key);
    return found != values_.end() && found->second == literal;
  }

 private:
  std::string prefix_;
  std::map<std::string, std::string> values_;
};

}  // namespace

std::string to_toml(const Recipe& recipe) {
  Writer writer(Writer::Keys::all);
  describe(writer, recipe);
  return writer.text();
}

std::string result_toml(const Recipe& recipe) {
  Writer writer(Writer::Keys::of_results);
  describe(writer, recipe);
  return writer.text();
}

std::map<std::string, std::string> result_keys(const Recipe& recipe) {
  Flattener flattener;
  describe(flattener, recipe);
  return flattener.values();
}

std::vector<KeyDifference> key_differences(const Recipe& a, const Recipe& b) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [key, literal] : result_keys(a)) both[key].first = literal;
  for (const auto& [key, literal] : result_keys(b)) both[key].second = literal;
  const auto shown = [](const std::string& literal) { return literal.empty() ? "unset" : literal; };
  std::vector<KeyDifference> differences;
  for (const auto& [key, values] : both) {
    if (values.first == values.second) continue;
    differences.push_back({key, shown(values.first), shown(values.second)});
  }
  return differences;
}

std::vector<std::string> differences(const Recipe& a, const Recipe& b) {
  std::vector<std::string> lines;
  for (const auto& [key, in_a, in_b] : key_differences(a, b)) {
    lines.push_back(key + ": " + in_a + " -> " + in_b);
  }
  return lines;
}

std::string fingerprint(const Recipe& recipe) {
  LaterDefaults unsaid;
  const Recipe initial;
  describe(unsaid, initial);
  Fingerprint print;
  for (const auto& [key, literal] : result_keys(recipe)) {
    if (unsaid.has(key, literal)) continue;
    print.add(key);
    print.add(literal);
  }
  return print.text();
}

}  // namespace bitcycle
