#pragma once

// Parts of a run that a program makes itself, in place of those that the recipe names. Whoever
// resumes the run hands the same ones over again: of them, checkpoints hold the state alone.

#include "bitcycle/config/make_policy.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/tasks/task.h"

#include <functional>
#include <optional>

namespace bitcycle {

struct RunParts {
  std::function<std::unique_ptr<Task>(const Recipe& recipe, const at::Device& device,
                                      const RunTexts& stored)>
      task = open_task;
  std::function<std::unique_ptr<PrecisionPolicy>(const PrecisionRecipe& recipe,
                                                 std::vector<LayerInfo> layers, RunLength length)>
      policy = make_policy;
  std::optional<Scheme> scheme;  // instead of precision.scheme
  // Stands between the backward pass and the update, and may change the gradients in place: the
  // seam for several processes, which average them there. Parameters without a gradient are left
  // out.
  std::function<void(std::vector<at::Tensor>& gradients)> reduce;
};

}  // namespace bitcycle
