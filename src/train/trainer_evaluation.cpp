#include "bitcycle/train/tensor_io.h"

#include "train/run_files.h"
#include "train/trainer_implementation.h"

namespace bitcycle {

const char* Trainer::Implementation::best_split() const {
  return recipe().evaluation.best_on == EvaluationRecipe::BestOn::validation ? "validation"
                                                                             : "test";
}

std::string Trainer::Implementation::evaluation_widths(Step step) const {
  if (recipe().precision.dynamic) return "";
  return forward_text(session.policy().evaluation(evaluation_bits, step - 1).common);
}

void Trainer::Implementation::report(const EvaluationReport& report) {
  tell([&](EventSink& sink) { sink.evaluation(report); });
}

// True when this is the best evaluation so far. Stopped, it leaves everything as it was.
bool Trainer::Implementation::evaluate_best_split(const StopSignal& stop_signal) {
  const bool validation = recipe().evaluation.best_on == EvaluationRecipe::BestOn::validation;
  const Score score = session.score(validation ? Split::validation : Split::test, evaluation_bits,
                                    state.step - 1, [&] { stop_signal.check(); });
  state.evaluation_due = false;
  const Metric& primary = session.task().metrics().primary();
  const double value = score.value(primary.name);
  const bool best =
      score.finite() && (state.best_step == 0 || primary.improves(value, state.best_value));
  if (best) {
    state.best_step = state.step;
    state.best_value = value;
  }
  if (recipe().lr_schedule.name == LearningRateRecipe::Name::plateau) {
    state.plateau.observe(score.value("loss"), recipe().lr_schedule.factor);
  }
  report({state.step, best_split(), recipe().evaluation.bits, score, best,
          evaluation_widths(state.step)});
  return best;
}

// The test score of the last weights, of their average and of the best ones, and the summary.
// Stopped, it is done again from the last checkpoint.
void Trainer::Implementation::finish(const StopSignal& stop_signal) {
  check_best();
  const auto score_test = [&](Step step) {
    tell([&](EventSink& sink) {
      sink.evaluating({step, "test", recipe().evaluation.bits, evaluation_widths(step)});
    });
    const Score score =
        session.score(Split::test, evaluation_bits, step - 1, [&] { stop_signal.check(); });
    report({step, "test", recipe().evaluation.bits, score, step == state.best_step,
            evaluation_widths(step)});
    return score;
  };
  const Score last = score_test(total);
  const auto averaged = finish_average(stop_signal);
  Score best = last;
  if (state.best_step != 0 && state.best_step != total) {
    CheckpointFiles loaded = store.load(state.best_step);
    restore_tensors(std::move(loaded["model.safetensors"]), "the best checkpoint",
                    model_state(session.model()));
    best = score_test(state.best_step);
  }
  tell([finish = RunFinish{total, state.best_step, last, best}](EventSink& sink) {
    sink.finish(finish);
  });
  sync_sinks();
  write_summary(directory, recipe(), state,
                {.backend = session.backend().backend,
                 .primary = session.task().metrics().primary().name,
                 .test = {.last = last, .best = best},
                 .stages = logged_stages(directory, state.offsets[sinks.front()->name()]),
                 .averaged = averaged});
}

}  // namespace bitcycle
