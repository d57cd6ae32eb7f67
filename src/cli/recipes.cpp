// `bitcycle recipes`: the recipes that ship, by the names that other commands take; with a name,
// the text of one, to begin one's own from.

#include "bitcycle/io/file.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/recipe_files.h"

#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  bitcycle recipes                                what there is\n"
    "  bitcycle train demo-cpt                         train one, from any directory\n"
    "  bitcycle recipes own-pictures > mine.toml       begin one of your own\n"
    "\n"
    "docs/recipes.md explains every key.";

struct Options {
  std::string name;
  bool json = false;
};

// The first sentence, as the rest is for those who open the file.
std::string first_sentence(const std::string& about) {
  const std::size_t end = about.find(". ");
  return about.substr(0, end == std::string::npos ? about.find_last_not_of('.') + 1 : end);
}

void print_list() {
  Table table({"recipe", "what it is"});
  for (const ShippedRecipe& recipe : shipped_recipes()) {
    table.add_row({recipe.name, first_sentence(recipe.about)});
  }
  fmt::print(
      "{}\n`bitcycle train NAME` trains one, `bitcycle sweep NAME` those of sweeps/; `bitcycle "
      "recipes\nNAME` prints its text.\n",
      table.text());
}

void print_json() {
  auto recipes = nlohmann::ordered_json::array();
  for (const ShippedRecipe& recipe : shipped_recipes()) {
    recipes.push_back(
        {{"name", recipe.name}, {"file", recipe.file.string()}, {"about", recipe.about}});
  }
  fmt::print("{}\n", json_text(recipes, 2));
}

void print_recipe(const std::string& name) {
  const auto bytes = read_regular_file(require_recipe(name));
  fmt::print("{}", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

int run_recipes(const Options& options) {
  if (!options.name.empty()) {
    print_recipe(options.name);
  } else {
    options.json ? print_json() : print_list();
  }
  return 0;
}

}  // namespace

void add_recipes(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("recipes", "The recipes that ship, or the text of one");
  CLI::Option* name = command->add_option("name", options->name, "Print this recipe");
  command->add_flag("--json", options->json, "Print JSON")->excludes(name);
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_recipes(*options); }; });
}

}  // namespace bitcycle::cli
