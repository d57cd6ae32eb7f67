#include "cli/predict/predict_subject.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"

namespace bitcycle::cli {
namespace {

void require_pictures(const Recipe& recipe, const std::string& run) {
  if (task_of(recipe.model.name) == TaskKind::image_classification) return;
  throw Error(ErrorCode::usage,
              "expected a run that tells pictures apart, found the language model \"" +
                  recipe.model.name + "\" in \"" + run + "\"",
              "`bitcycle eval " + run + "` scores it on its texts.");
}

Width only_width(const std::string& text) {
  const std::vector<Width> widths = parse_widths(text);
  if (widths.size() == 1) return widths.front();
  throw Error(ErrorCode::usage, "--bits: expected one width, found \"" + text + "\"",
              "Ask once for each.");
}

// As `eval` has it: gates choose unless somebody else does.
Width width_of(const PredictOptions& options, const Recipe& recipe) {
  if (!options.bits.empty()) return only_width(options.bits);
  if (recipe.precision.dynamic) return {"as chosen", {EvaluationBits::Kind::current}};
  return only_width(recipe.evaluation.bits);
}

}  // namespace

PredictSubject predict_subject(const PredictOptions& options) {
  Recipe recipe = read_recipe(run_recipe(options.run));
  require_pictures(recipe, options.run);
  recipe.threads = 1;
  return {recipe, read_checkpoint(options.run, options.checkpoint), width_of(options, recipe)};
}

}  // namespace bitcycle::cli
