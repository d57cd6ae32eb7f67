#pragma once

// toml++ with what recipes need around it: where a value stands, what it is in words, and the
// settings of the command line laid over a file. Private to config.

#include "bitcycle/base/error.h"

#include "config/toml_plus_plus.h"

#include <string>
#include <string_view>

namespace bitcycle {

// Error(recipe) "where: what". `where` is file:line:column, or the --set that a value came from.
Error recipe_error(const toml::source_region& where, const std::string& what,
                   const std::string& hint = "");

// file:line:column, or the --set.
std::string place_text(const toml::source_region& where);

// Whether a value was set on the command line.
bool from_setting(const toml::source_region& where);

// A value for a message: `"abc"`, `12`, `a table`.
std::string in_words(const toml::node& node);

// A value as TOML.
std::string on_one_line(const toml::node& node);

// A string as a TOML value.
std::string quoted(const std::string& text);

// Parses a document. Throws Error(recipe) at the place of the first mistake.
toml::table parse_toml(std::string_view text, const std::string& origin);

// Lays `key=value` over a document: the key may be dotted, the value is TOML or a bare word. A
// table in braces takes the place of what is there, else tables are merged.
void lay_over(toml::table& document, const std::string& setting);

}  // namespace bitcycle
