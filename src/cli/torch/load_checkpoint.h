#pragma once

// A session's model with the weights of one of its run's checkpoints, to be evaluated.

#include "bitcycle/train/session.h"
#include "bitcycle/train/trainer.h"

#include "cli/runs/run_checkpoint.h"

namespace bitcycle::cli {

// A relative data.root counts from where the run was started, if that is still there.
Recipe recipe_of_run(const std::filesystem::path& run);

// Throws Error(checkpoint) when it does not fit, Error(data) when the session's data are not those
// that the run was trained on, unless that does not matter.
void load_checkpoint(Session& session, RunCheckpoint checkpoint,
                     DataChanges changes = DataChanges::refuse);

}  // namespace bitcycle::cli
