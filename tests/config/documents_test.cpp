// The pages and recipes that ship with the project say what the code does.

#include "bitcycle/base/error.h"
#include "bitcycle/config/recipe.h"

#include "config/reference.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

const fs::path kSource = BITCYCLE_SOURCE_DIR;

std::string page(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(kSource / "docs" / name).rdbuf();
  return text.str();
}

std::vector<fs::path> shipped_recipes() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "recipes")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  return paths;
}

TEST(DocumentsTest, EveryShippedRecipeReadsAndIsMentioned) {
  const std::vector<fs::path> recipes = shipped_recipes();
  EXPECT_GE(recipes.size(), 10U);
  for (const fs::path& path : recipes) {
    EXPECT_NO_THROW(read_recipe(path)) << path;
    EXPECT_THAT(page("recipes.md"), HasSubstr(fs::relative(path, kSource).string()));
  }
}

TEST(DocumentsTest, TheReferenceHasExactlyTheKeysThatThereAre) {
  std::vector<std::string> rows = recipe_rows();
  for (const auto& more : {schedule_rows(), progressive_rows(), dynamic_rows(), override_rows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const std::string text = page("recipes.md");
  const std::string reference = text.substr(text.find("## Reference"));
  for (const std::string& row : rows) EXPECT_THAT(reference, HasSubstr(row + "\n"));
  std::istringstream lines(reference);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    EXPECT_THAT(rows, Contains(line));
  }
}

// Reads what a page's `bitcycle train` commands would, e.g. "bitcycle train recipes/x.toml --set
// a=b", and returns how many there are.
int read_train_commands(const std::string& text) {
  const std::regex command("bitcycle train (recipes/[^ `\n$]+)([^`\n$]*)[`\n]");
  const std::regex setting("--set ('[^']*'|[^ ]+)");
  int commands = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), command), end; i != end; ++i, ++commands) {
    std::vector<std::string> settings;
    const std::string options = (*i)[2];
    for (std::sregex_iterator s(options.begin(), options.end(), setting); s != end; ++s) {
      const std::string value = (*s)[1];
      settings.push_back(value[0] == '\'' ? value.substr(1, value.size() - 2) : value);
    }
    EXPECT_NO_THROW(read_recipe(kSource / (*i)[1].str(), settings)) << i->str();
  }
  return commands;
}

TEST(DocumentsTest, EveryTrainCommandOfAPageIsValid) {
  EXPECT_GE(read_train_commands(page("recipes.md")), 20);
  EXPECT_GE(read_train_commands(page("reproduction.md")), 48);
}

TEST(DocumentsTest, TheErrorsPageHasEveryCodeWithItsExitStatus) {
  const std::string text = page("errors.md");
  for (int code = 0; name(static_cast<ErrorCode>(code)) != "unknown"; ++code) {
    const auto error = static_cast<ErrorCode>(code);
    EXPECT_THAT(text, HasSubstr("| `" + std::string(name(error)) + "` | " +
                                std::to_string(exit_status(error)) + " |"));
  }
}

}  // namespace
}  // namespace bitcycle
