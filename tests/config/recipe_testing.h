#pragma once

// Recipes from text, and what is said of those that are wrong.

#include "bitcycle/base/error.h"
#include "bitcycle/config/recipe.h"

#include <gtest/gtest.h>

namespace bitcycle {

inline Recipe parsed(const std::string& text, const std::vector<std::string>& settings = {}) {
  return parse_recipe(text, "r.toml", settings);
}

// "message | hint" of the Error(recipe) that the text gives.
inline std::string complaint(const std::string& text,
                             const std::vector<std::string>& settings = {}) {
  try {
    parsed(text, settings);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::recipe);
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

}  // namespace bitcycle
