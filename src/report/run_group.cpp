#include "bitcycle/report/run_group.h"

namespace bitcycle {

std::string run_group(Recipe recipe) {
  recipe.seed = Recipe().seed;
  const bool own = recipe.data.dataset == "image_folder" || recipe.data.dataset == "text";
  return fingerprint(recipe) + (own ? " " + recipe.data.root : "");
}

}  // namespace bitcycle
