// The pages and recipes that ship with the project say what the code does.

#include "bitcycle/base/error.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/config/sweep.h"

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

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string page(const std::string& name) {
  return text_of(kSource / "docs" / name);
}

std::vector<fs::path> shipped_files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "recipes")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  return paths;
}

bool is_sweep(const fs::path& path) {
  const std::string name = path.stem().string();
  return path.parent_path().filename() == "sweeps" || name.starts_with("table") ||
         name.starts_with("figure");
}

std::vector<fs::path> shipped_recipes() {
  std::vector<fs::path> paths = shipped_files();
  std::erase_if(paths, is_sweep);
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

TEST(DocumentsTest, EveryShippedSweepReadsAndStandsInItsPage) {
  int sweeps = 0;
  for (const fs::path& path : shipped_files()) {
    if (!is_sweep(path)) continue;
    ++sweeps;
    EXPECT_NO_THROW(read_sweep(path)) << path;
    EXPECT_THAT(page("sweeps.md"), HasSubstr(fs::relative(path, kSource).string()));
  }
  EXPECT_GE(sweeps, 1);
}

// Sweeps are written for recipes/sweeps.
TEST(DocumentsTest, EverySweepOfThePageReads) {
  const std::string text = page("sweeps.md");
  const std::regex block("```toml\n([^`]*)```");
  std::vector<std::size_t> cells;
  for (std::sregex_iterator i(text.begin(), text.end(), block), end; i != end; ++i) {
    cells.push_back(parse_sweep((*i)[1].str(), "sweeps.md", kSource / "recipes/sweeps").size());
  }
  EXPECT_THAT(cells, testing::ElementsAre(9, 24));
  EXPECT_THAT(text, HasSubstr(text_of(kSource / "recipes/sweeps/cpt-or-static.toml")));
}

TEST(DocumentsTest, TheReferenceHasExactlyTheKeysThatThereAre) {
  std::vector<std::string> rows = recipe_rows();
  for (const auto& more : {schedule_rows(), progressive_rows(), dynamic_rows(), range_test_rows(),
                           override_rows(), averaging_rows()}) {
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

// The text between "```toml" and "```", of every such block.
std::vector<std::string> toml_blocks(const std::string& text) {
  const std::string open = "```toml\n", close = "```";
  std::vector<std::string> blocks;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    blocks.push_back(text.substr(at, text.find(close, at) - at));
  }
  return blocks;
}

TEST(DocumentsTest, EveryRecipeOfAPageIsComplete) {
  int recipes = 0;
  for (const char* name : {"../README.md", "data.md", "recipes.md", "schedules.md", "weights.md"}) {
    for (const std::string& block : toml_blocks(page(name))) {
      EXPECT_NO_THROW(parse_recipe(block, name)) << block;
      ++recipes;
    }
  }
  EXPECT_GE(recipes, 7);
}

TEST(DocumentsTest, TheRecipeForOwnPicturesIsTheOneThatShips) {
  std::ostringstream shipped;
  shipped << std::ifstream(kSource / "recipes/own-pictures.toml").rdbuf();
  EXPECT_THAT(toml_blocks(page("data.md")), Contains(shipped.str()));
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
