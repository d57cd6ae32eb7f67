#include "config/toml.h"

#include "config/literal.h"

#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::string_view kSetting = "--set ";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? "" : text.substr(first, last - first + 1);
}

void merge(toml::table& into, toml::table&& from) {
  for (auto&& [key, node] : from) {
    toml::table* old = into[key].as_table();
    toml::table* added = node.as_table();
    if (old != nullptr && added != nullptr && !added->is_inline()) {
      merge(*old, std::move(*added));
    } else {
      into.insert_or_assign(key, std::move(node));
    }
  }
}

std::string line_of(std::string_view text, std::size_t number) {
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

// key = word, where a word is no value.
bool has_bare_word(const std::string& line) {
  const std::size_t value = line.find_first_not_of(" \t", line.find('=') + 1);
  return line.find('=') != line.npos && value != line.npos &&
         (std::isalpha(static_cast<unsigned char>(line[value])) != 0 || line[value] == '/' ||
          line[value] == '.' || line[value] == '~');
}

}  // namespace

std::string place_text(const toml::source_region& where) {
  const std::string origin = where.path ? *where.path : "recipe";
  if (from_setting(where) || !where.begin) return origin;
  return fmt::format("{}:{}:{}", origin, where.begin.line, where.begin.column);
}

Error recipe_error(const toml::source_region& where, const std::string& what,
                   const std::string& hint) {
  return Error(ErrorCode::recipe, place_text(where) + ": " + what, hint);
}

bool from_setting(const toml::source_region& where) {
  return where.path && where.path->starts_with(kSetting);
}

std::string on_one_line(const toml::node& value) {
  // toml++ writes 0.1 as 0.10000000000000001.
  const auto number = value.value_exact<double>();
  if (number && std::isfinite(*number)) return literal(*number);
  std::ostringstream text;
  text << toml::toml_formatter(value, toml::format_flags::none);
  return text.str();
}

std::string in_words(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (const auto* array = node.as_array()) return array->empty() ? "an empty list" : "a list";
  constexpr std::size_t kLongest = 60;
  const std::string text = on_one_line(node);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::string quoted(const std::string& text) {
  return on_one_line(toml::value<std::string>(text));
}

toml::table parse_toml(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw recipe_error(error.source(), std::string(error.description()),
                       has_bare_word(line_of(text, error.source().begin.line))
                           ? "Texts stand in quotes: root = \"photos\"."
                           : "");
  }
}

void lay_over(toml::table& document, const std::string& setting) {
  const std::string origin = std::string(kSetting) + setting;
  const std::size_t equals = setting.find('=');
  if (equals == setting.npos) {
    throw Error(ErrorCode::recipe, origin + ": expected key=value, found no \"=\"",
                "Write for instance --set data.batch_size=64.");
  }
  const std::string key(trimmed(setting.substr(0, equals)));
  const std::string value(trimmed(setting.substr(equals + 1)));
  try {
    merge(document, parse_toml(key + " = " + value, origin));
  } catch (const Error&) {
    // Not TOML: a bare word, unless it looks like a string, array or table gone wrong.
    if (!value.empty() && std::string_view("\"'[{").find(value[0]) != std::string_view::npos) throw;
    merge(document, parse_toml(key + " = " + quoted(value), origin));
  }
}

}  // namespace bitcycle
