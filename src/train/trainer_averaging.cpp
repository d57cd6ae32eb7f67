#include "bitcycle/config/averaging.h"
#include "bitcycle/train/tensor_io.h"

#include "train/norm_pass.h"
#include "train/trainer_implementation.h"

namespace bitcycle {

void Trainer::Implementation::average_weights() {
  if (!average || !is_averaged(*recipe().averaging, state.step, session.length())) return;
  const Step points = state.averaged.value_or(0);
  average->add(points);
  state.averaged = points + 1;
}

// A run that goes on with another recipe: one that is longer now may start to average later, and
// forgets what it has averaged before.
void Trainer::Implementation::settle_average() {
  if (average && state.step >= first_averaged(*recipe().averaging, session.length())) return;
  state.averaged.reset();
}

Score Trainer::Implementation::score_averaged(const std::string& split,
                                              const StopSignal& stop_signal) {
  const Score score = session.score(split == "test" ? Split::test : Split::validation,
                                    evaluation_bits, total - 1, [&] { stop_signal.check(); });
  report({total, "averaged_" + split, recipe().evaluation.bits, score, /*best=*/false,
          evaluation_widths(total)});
  return score;
}

// Leaves the averaged weights in the model.
std::optional<AveragedResult> Trainer::Implementation::finish_average(
    const StopSignal& stop_signal) {
  if (!state.averaged) return std::nullopt;
  tell([&](EventSink& sink) {
    sink.evaluating({total, "averaged_test", recipe().evaluation.bits, evaluation_widths(total)});
  });
  average->write_to_model();
  renew_norms(session, evaluation_bits, total - 1, total * recipe().optimizer.accumulate,
              [&] { stop_signal.check(); });
  AveragedResult result{.points = *state.averaged, .validation = {}, .test = {}};
  if (recipe().evaluation.best_on == EvaluationRecipe::BestOn::validation) {
    result.validation = score_averaged("validation", stop_signal);
  }
  result.test = score_averaged("test", stop_signal);
  save_averaged();
  return result;
}

void Trainer::Implementation::save_averaged() {
  const std::string json = to_json(state);
  const auto* bytes = reinterpret_cast<const std::byte*>(json.data());
  CheckpointStore(directory / kAveragedFolder)
      .save(total, {{"state.json", {bytes, bytes + json.size()}},
                    {"model.safetensors", encode_tensors(model_state(session.model()))}});
}

}  // namespace bitcycle
