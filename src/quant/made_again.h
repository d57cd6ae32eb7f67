#pragma once

// Note [Made again]: the backward pass of a block that samples may skip needs the block's input and
// its output, in halves, to tell what skipping would have been worth. An output is
// activation(norm(y) + input), and y is kept anyway; so where a block's input is kept, its output
// need not be. It gives its memory back as soon as the next block has read it, and is made again by
// the first who needs it on the way back, by the same operations and so to the same bytes. All its
// handles share one storage, which is emptied and filled; autograd does not notice. The next
// block's output is kept then: every second one is made again, and each of them once.

#include "bitcycle/quant/torch.h"

#include <functional>
#include <utility>
#include <vector>

namespace bitcycle {

class MadeAgain {
 public:
  // `values` is a handle without a graph.
  explicit MadeAgain(at::Tensor values) : values_(std::move(values)) {}

  // Adds a step that fills a part of the values' memory.
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
  // Gives the memory back; nobody may look at the values before have().
  void let_go();
  // Sees to it that the values are there. From then on they are a tensor like others.
  void have();

 private:
  at::Tensor values_;  // none once they are not to be let go any more
  std::vector<std::function<void()>> steps_;
};

}  // namespace bitcycle
