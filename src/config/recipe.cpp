#include "bitcycle/config/recipe.h"

#include "bitcycle/io/file.h"

#include "config/reader.h"
#include "config/recipe_check.h"
#include "config/sweep_parts.h"
#include "config/toml.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

// A length on the command line takes the place of the other kind of length in the file.
void prefer_set_length(toml::table& document) {
  const toml::node *steps = document.get("steps"), *epochs = document.get("epochs");
  if (steps == nullptr || epochs == nullptr) return;
  const bool set_steps = from_setting(steps->source()), set_epochs = from_setting(epochs->source());
  if (set_steps != set_epochs) document.erase(set_steps ? "epochs" : "steps");
}

// A network at few bits is not yet what it will be at more, so stages are judged at their own; and
// gates choose now as in training.
void settle_defaults(Recipe& recipe, const Places& places) {
  const bool given = places.keys.contains("evaluation.bits");
  const bool own = recipe.precision.progressive || recipe.precision.dynamic;
  if (own && !given) recipe.evaluation.bits = "current";
  if (is_automatic(recipe.precision) && !recipe.precision.range_test) {
    recipe.precision.range_test.emplace();
  }
}

void refuse_sweep(const toml::table& document, const std::string& origin) {
  if (!describes_sweep(document)) return;
  throw recipe_error(document.source(), "this is a sweep, which describes several runs",
                     fmt::format("Train them with `bitcycle sweep {}`.", origin));
}

}  // namespace

Recipe parse_recipe(std::string_view text, const std::string& origin,
                    const std::vector<std::string>& settings) {
  toml::table document = parse_toml(text, origin);
  refuse_sweep(document, origin);
  for (const std::string& setting : settings) lay_over(document, setting);
  prefer_set_length(document);

  Recipe recipe;
  Places places;
  places.document = {{}, {}, std::make_shared<const std::string>(origin)};
  Reader reader(document, "", places);
  describe(reader, recipe);
  reader.refuse_unknown();
  settle_defaults(recipe, places);
  check_recipe(recipe, places);
  return recipe;
}

Recipe read_recipe(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  const std::vector<std::byte> bytes = read_regular_file(file, ErrorCode::recipe);
  return parse_recipe({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                      settings);
}

}  // namespace bitcycle
