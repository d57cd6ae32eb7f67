#pragma once

// Batch norm's running statistics made anew, for weights that no training step has had: the mean
// over the batches of an epoch, each weighted by its samples. The batches go through the model in
// training mode, so that every layer sees its input as normalised by the batch, and running ranges
// of activations move as in training; nothing is learned.

#include "bitcycle/train/session.h"

#include <functional>

namespace bitcycle {

// At the precision of evaluations after `step`. The batches are those of the epoch that follows the
// first `done` batches of training, augmented and in an order of its own as in any epoch. A model
// without batch norms is left as it is. What `between_batches` throws cuts it short, and leaves the
// statistics as they are then.
void renew_norms(Session& session, const EvaluationBits& bits, Step step, std::int64_t done,
                 const std::function<void()>& between_batches);

}  // namespace bitcycle
