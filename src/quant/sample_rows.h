#pragma once

// Some samples of a batch, and batches put together again, for blocks that samples may skip. Float
// or half, channels-last; halves stay where they are (Note [Samples in place]).

#include "bitcycle/quant/unit_tensor.h"

#include <memory>
#include <vector>

namespace bitcycle {

// A tensor over the same memory that has so many samples.
at::Tensor with_samples(const at::Tensor& x, std::int64_t samples);
// Memory for a batch of pictures like these, in the shape of these.
at::Tensor room_for_samples(const at::Tensor& x, std::int64_t batch);

// The samples `rows` (ascending), in that order: a copy.
at::Tensor select_samples(const at::Tensor& x, const std::vector<int>& rows);

// The ways of a half tensor into a block: the samples that go through, in place, for two readers,
// and the whole batch for who leads the others around the block. The gradients of all are added up
// in the memory of the batch's, of which the latter must not be read any more then.
struct SplitSamples {
  at::Tensor first, second, around;
};
// Whose gradient that of `around` is.
enum class Around { the_others, all_samples };
SplitSamples split_samples(const at::Tensor& x, const std::shared_ptr<const SampleRows>& rows,
                           Around around);

// A block that some samples went through and the others skipped: sample rows[i] of the result is
// passed[i], the others are those of `skipped`. The gradient of `skip` ([samples], 1 for those that
// skipped) is what skipping would have been worth to a sample that went through, the inner product
// of its error with skipped - passed; of one that skipped it is 0, because what going through would
// have been worth is not known without doing it. `gradient_scale`: what errors are multiplied by.
struct SkipCall {
  std::vector<int> rows;
  float gradient_scale = 1.0f;
};
at::Tensor join_samples(const at::Tensor& skipped, const at::Tensor& passed, const at::Tensor& skip,
                        const SkipCall& call);
// The same of samples in place: the others are copied to where they belong.
UnitTensor join_in_place(const UnitTensor& skipped, const UnitTensor& passed,
                         const at::Tensor& skip);

}  // namespace bitcycle
