#include "train/norm_pass.h"

#include <list>

namespace bitcycle {
namespace {

// One batch norm. Without a momentum a norm keeps the mean over the batches since its count was 0,
// whatever its scheme, so that a count of 0 before each batch leaves the batch's own statistics.
class RenewedNorm {
 public:
  template <class Norm>
  explicit RenewedNorm(Norm& norm)
      : mean_(norm.running_mean),
        variance_(norm.running_var),
        batches_(norm.num_batches_tracked),
        means_(at::zeros_like(mean_, at::kDouble)),
        variances_(at::zeros_like(variance_, at::kDouble)),
        restore_([&norm, momentum = norm.options.momentum()] { norm.options.momentum(momentum); }) {
    norm.options.momentum(c10::nullopt);
  }
  ~RenewedNorm() { restore_(); }
  RenewedNorm(const RenewedNorm&) = delete;
  RenewedNorm& operator=(const RenewedNorm&) = delete;

  void begin_batch() {
    mean_.zero_();
    variance_.zero_();
    batches_.zero_();
  }
  void end_batch(double samples) {
    if (batches_.item<std::int64_t>() == 0) return;  // the model made no use of it
    means_.add_(mean_.to(at::kDouble).mul_(samples));
    variances_.add_(variance_.to(at::kDouble).mul_(samples));
    samples_ += samples;
    ++count_;
  }
  void finish() {
    batches_.fill_(count_);
    if (count_ == 0) {
      mean_.zero_();
      variance_.fill_(1);
      return;
    }
    mean_.copy_(means_.div_(samples_));
    variance_.copy_(variances_.div_(samples_));
  }

 private:
  at::Tensor mean_, variance_, batches_;
  at::Tensor means_, variances_;  // sums, each batch times its samples
  double samples_ = 0;
  std::int64_t count_ = 0;
  std::function<void()> restore_;
};

template <class Norm>
void add_norms(const torch::nn::Module& model, std::list<RenewedNorm>& norms) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    auto* norm = dynamic_cast<Norm*>(module.get());
    if (norm != nullptr && norm->options.track_running_stats()) norms.emplace_back(*norm);
  }
}

// The first batch of the next whole epoch.
std::int64_t next_epoch(std::int64_t done, std::int64_t batches_per_epoch) {
  return (done + batches_per_epoch - 1) / batches_per_epoch * batches_per_epoch;
}

}  // namespace

void renew_norms(Session& session, const EvaluationBits& bits, Step step, std::int64_t done,
                 const std::function<void()>& between_batches) {
  std::list<RenewedNorm> norms;
  add_norms<torch::nn::BatchNorm2dImpl>(session.model(), norms);
  add_norms<torch::nn::BatchNorm1dImpl>(session.model(), norms);
  if (norms.empty()) return;
  const torch::NoGradGuard no_grad;
  Task& task = session.task();
  const std::int64_t batches = task.batches_per_epoch();
  task.start(next_epoch(done, batches));
  session.model().train();
  for (std::int64_t i = 0; i < batches; ++i) {
    between_batches();
    session.apply_evaluation_in_training(bits, step, step + 1 + i);
    for (RenewedNorm& norm : norms) norm.begin_batch();
    const double samples = task.next_loss().work;
    for (RenewedNorm& norm : norms) norm.end_batch(samples);
  }
  for (RenewedNorm& norm : norms) norm.finish();
}

}  // namespace bitcycle
