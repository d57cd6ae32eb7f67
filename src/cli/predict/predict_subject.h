#pragma once

// Whom `bitcycle predict` asks, checked without LibTorch.

#include "bitcycle/config/recipe.h"
#include "bitcycle/schedule/schedule.h"

#include "cli/runs/run_checkpoint.h"
#include "cli/runs/run_paths.h"

namespace bitcycle::cli {

struct PredictSubject {
  Recipe recipe;  // with one thread: a picture is a batch of its own, too little to share
  RunCheckpoint checkpoint;
  Width width;  // to evaluate at; "as chosen" where gates are asked
};

// Throws Error(usage) when the directory holds no run or one that does not classify pictures, or
// where --bits is no width; Error(checkpoint) when there is no such checkpoint, or it is damaged.
PredictSubject predict_subject(const PredictOptions& options);

}  // namespace bitcycle::cli
