#include "bitcycle/tasks/task.h"

#include "bitcycle/tasks/image_classification.h"

namespace bitcycle {

std::unique_ptr<Task> open_task(const Recipe& recipe, const at::Device& device) {
  return std::make_unique<ImageClassification>(recipe, device);
}

}  // namespace bitcycle
