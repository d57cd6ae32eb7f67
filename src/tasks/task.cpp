#include "bitcycle/tasks/task.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/tasks/image_classification.h"
#include "bitcycle/tasks/language_model.h"

namespace bitcycle {

Score Task::evaluate_in_batches(Split split, const std::function<void()>&) {
  return evaluate(split);
}

std::unique_ptr<KeptSamples> Task::keep_samples(std::int64_t, RandomKey) {
  throw Error(ErrorCode::usage, "this task has no samples that can be scored at many weights",
              "Override Task::keep_samples.");
}

std::unique_ptr<Task> open_task(const Recipe& recipe, const at::Device& device,
                                const RunTexts& stored) {
  switch (task_of(recipe.model.name)) {
    case TaskKind::image_classification:
      return std::make_unique<ImageClassification>(recipe, device);
    case TaskKind::language_model:
      return std::make_unique<LanguageModel>(recipe, device, stored);
  }
  return nullptr;
}

}  // namespace bitcycle
