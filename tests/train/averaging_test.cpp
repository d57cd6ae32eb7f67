// Runs with [averaging]: what is averaged, what batch norm's statistics are made of, and that
// neither depends on threads, workers or where the run was stopped.

#include "bitcycle/base/error.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/tasks/image_classification.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/train_state.h"
#include "bitcycle/train/weights.h"

#include "io/io_testing.h"
#include "train/norm_pass.h"
#include "train/run_files.h"
#include "train/trainer_testing.h"
#include "train/weight_average.h"

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Step kTotal = 16;

// 8 steps an epoch; averaged behind the steps 8, 10, 12, 14 and 16, with a checkpoint at each.
Recipe averaging_recipe() {
  Recipe recipe = small_recipe();
  recipe.threads = 1;
  recipe.averaging = AveragingRecipe{.start = 0.5, .every_epochs = 0.25};
  recipe.checkpoint = {.every_epochs = 0.25, .keep = 100};
  return recipe;
}

using Tensors = std::map<std::string, at::Tensor>;

Tensors tensors_in(const fs::path& home, Step step, const std::string& file) {
  Tensors tensors;
  for (const auto& [name, stored] :
       decode_safetensors(CheckpointStore(home).load(step).at(file), file).tensors) {
    tensors.emplace(name, to_tensor(stored));
  }
  return tensors;
}

Tensors averaged_model(const fs::path& run) {
  return tensors_in(run / kAveragedFolder, kTotal, "model.safetensors");
}

class AveragingTest : public TrainerTest {};

TEST_F(AveragingTest, TheAverageIsTheMeanOfTheWeightsInTheCheckpoints) {
  const fs::path run = train("run", averaging_recipe());
  Tensors sums;
  for (const Step step : {8, 10, 12, 14, 16}) {
    for (const auto& [name, values] : tensors_in(run, step, "model.safetensors")) {
      const at::Tensor value = values.to(at::kDouble);
      sums[name] = sums.contains(name) ? sums[name] + value : value;
    }
  }
  const Tensors average = tensors_in(run, kTotal, "average.safetensors");
  const Tensors model = averaged_model(run);
  EXPECT_GT(average.size(), 20U);
  for (const auto& [name, mean] : average) {
    EXPECT_TRUE(at::allclose(mean.to(at::kDouble), sums.at(name) / 5, 1e-5, 1e-7)) << name;
    EXPECT_TRUE(at::equal(mean, model.at(name))) << name;
    EXPECT_EQ(name.find("running"), std::string::npos);
  }
  EXPECT_EQ(summary_of(run)["averaged"]["points"], 5);
}

TEST_F(AveragingTest, TheFirstPointIsTheWeightsThemselves) {
  const fs::path run = train_and_stop("run", averaging_recipe(), 9);
  const Tensors average = tensors_in(run, 9, "average.safetensors");
  const Tensors weights = tensors_in(run, 8, "model.safetensors");
  for (const auto& [name, mean] : average) EXPECT_TRUE(at::equal(mean, weights.at(name))) << name;
  EXPECT_FALSE(CheckpointStore(run).load(6).contains("average.safetensors"));
}

TEST_F(AveragingTest, ChangesNothingElseOfTheRun) {
  Recipe recipe = averaging_recipe();
  const fs::path with = train("with", recipe);
  recipe.averaging.reset();
  const fs::path without = train("without", recipe);
  for (const Step step : {4, 16}) {
    EXPECT_EQ(CheckpointStore(with).load(step).at("model.safetensors"),
              CheckpointStore(without).load(step).at("model.safetensors"));
  }
  EXPECT_EQ(summary_of(with)["test"], summary_of(without)["test"]);
  EXPECT_EQ(summary_of(with)["test_of_best"], summary_of(without)["test_of_best"]);
  EXPECT_FALSE(fs::exists(without / kAveragedFolder));
  EXPECT_THAT(text(without / "recipe.toml"), testing::Not(HasSubstr("averaging")));
}

TEST_F(AveragingTest, IsScoredAndToldAsAnEvaluation) {
  const fs::path run = train("run", averaging_recipe());
  std::vector<std::string> splits;
  for (const json& line : lines_of(run, "evaluation")) {
    const std::string split = line["split"];
    if (!split.starts_with("averaged_")) continue;
    splits.push_back(split);
    const json stored = summary_of(run)["averaged"][split.substr(9)];
    EXPECT_EQ(line["accuracy"], stored["accuracy"]);
    EXPECT_EQ(line["samples"], stored["samples"]);
    EXPECT_EQ(line["best"], false);
    EXPECT_EQ(line["step"], kTotal);
  }
  EXPECT_THAT(splits, ElementsAre("averaged_validation", "averaged_test"));
}

// The stored weights score what the run said of them.
TEST_F(AveragingTest, ItsCheckpointScoresTheSame) {
  for (const auto backend :
       {PrecisionRecipe::Backend::simulate, PrecisionRecipe::Backend::integer}) {
    Recipe recipe = averaging_recipe();
    recipe.precision.backend = backend;
    const fs::path run = train("run" + std::to_string(static_cast<int>(backend)), recipe);
    Session session(recipe, run);
    restore_tensors(CheckpointStore(run / kAveragedFolder).load(kTotal).at("model.safetensors"),
                    "averaged", model_state(session.model()));
    const Score score = session.score(Split::test, parse_evaluation_bits("max"), kTotal - 1);
    EXPECT_EQ(score.value("loss"), summary_of(run)["averaged"]["test"]["loss"].get<double>());
  }
}

TEST_F(AveragingTest, IsResumedToTheByte) {
  for (const auto backend :
       {PrecisionRecipe::Backend::simulate, PrecisionRecipe::Backend::integer}) {
    Recipe recipe = averaging_recipe();
    recipe.precision.backend = backend;
    const std::string name = std::to_string(static_cast<int>(backend));
    const fs::path whole = train("whole" + name, recipe);
    const fs::path run = train_and_stop("stopped" + name, recipe, 11);
    resume(run, recipe);
    expect_same_bytes(whole, run);
  }
}

// Killed when all was trained: what the end makes is made again, in place of what stands there.
TEST_F(AveragingTest, ItsEndIsMadeAgainToTheSameBytes) {
  const fs::path whole = train("whole", averaging_recipe());
  const fs::path run = root_ / "run";
  fs::copy(whole, run, fs::copy_options::recursive);
  fs::remove(run / "summary.json");
  write_file(run / kAveragedFolder / "checkpoints/step-00000016/model.safetensors", "half");
  resume(run, averaging_recipe());
  expect_same_bytes(whole, run);
}

TEST_F(AveragingTest, DoesNotDependOnThreadsAndWorkers) {
  Recipe recipe = averaging_recipe();
  recipe.precision.backend = PrecisionRecipe::Backend::integer;
  recipe.data.workers = 0;
  const fs::path one = train("one", recipe);
  recipe.threads = 3;
  recipe.data.workers = 2;
  const fs::path three = train("three", recipe);
  write_file(three / "recipe.toml", text(one / "recipe.toml"));  // it names both
  expect_same_bytes(one, three);
}

// A longer run starts to average later.
TEST_F(AveragingTest, ALongerRunForgetsWhatComesBeforeItsStart) {
  Recipe recipe = averaging_recipe();
  const fs::path run = train("run", recipe);
  recipe.epochs = 5;
  Trainer trainer(recipe, run);
  ASSERT_TRUE(trainer.resume());
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_EQ(summary_of(run)["averaged"]["points"], 11);  // the steps 20, 22, ... 40
  EXPECT_EQ(CheckpointStore(run / kAveragedFolder).steps(), std::vector<std::int64_t>{40});
}

TEST_F(AveragingTest, ARunOfBeforeBeginsToAverageWhereItGoesOn) {
  Recipe recipe = averaging_recipe();
  recipe.averaging.reset();
  const fs::path run = train_and_stop("run", recipe, 13);
  resume(run, averaging_recipe());
  EXPECT_EQ(summary_of(run)["averaged"]["points"], 2);
}

TEST_F(AveragingTest, AMissingAverageIsACheckpointError) {
  const fs::path run = train_and_stop("run", averaging_recipe(), 13);
  CheckpointFiles files = CheckpointStore(run).load(13);
  files.erase("average.safetensors");
  CheckpointStore(run).save(13, files);
  const Error error = error_of([&] { Trainer(averaging_recipe(), run).resume(); });
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("average.safetensors"));
}

TEST_F(AveragingTest, WorksInSchemesWithNormsOfTheirOwn) {
  for (const auto scheme : {SchemeName::sbm_banner, SchemeName::wageubn_full}) {
    Recipe recipe = averaging_recipe();
    recipe.precision.scheme = scheme;
    recipe.precision.backward = {.min = 8, .max = 8};
    const fs::path run = train("run" + std::to_string(static_cast<int>(scheme)), recipe);
    EXPECT_TRUE(summary_of(run)["averaged"]["test"]["loss"].is_number());
    for (const auto& [name, values] : averaged_model(run)) {
      if (!name.ends_with("running_var")) continue;
      EXPECT_TRUE(values.gt(0).all().item<bool>()) << name;
    }
  }
}

TEST_F(AveragingTest, OtherRunsStartFromIt) {
  const fs::path run = train("run", averaging_recipe());
  const WeightsFile file = find_weights(run / kAveragedFolder);
  EXPECT_EQ(file.run, run);
  EXPECT_EQ(file.bytes,
            CheckpointStore(run / kAveragedFolder).load(kTotal).at("model.safetensors"));
}

// The statistics of the first norm, by hand: of all batches of the epoch, in training mode, and of
// a last one that is smaller.
TEST(NormPassTest, StatisticsAreTheMeanOfTheBatchesWeightedBySamples) {
  Recipe recipe = averaging_recipe();
  recipe.data.limit = 75;  // batches of 32, 32 and a smaller one
  recipe.precision.forward = {.min = 0, .max = 0};
  recipe.precision.backward = {.min = 0, .max = 0};
  Session session(recipe);
  const EvaluationBits bits = parse_evaluation_bits("max");
  Task& task = session.task();
  const std::int64_t batches = task.batches_per_epoch();
  ASSERT_EQ(batches, 3);

  const at::Tensor weight = session.model().named_parameters()["conv1.weight"];
  Loader loader(open_training_sets({.name = "synthetic",
                                    .validation = recipe.data.validation,
                                    .limit = recipe.data.limit,
                                    .seed = recipe.seed})
                    .train,
                training_augmentation("synthetic", recipe.data.image_size),
                {.batch_size = 32, .seed = recipe.seed, .first_step = 6});
  at::Tensor mean = at::zeros({weight.size(0)}, at::kDouble), variance = mean.clone();
  double samples = 0;
  for (std::int64_t i = 0; i < batches; ++i) {
    const at::Tensor images = to_tensors(loader.next(), at::kCPU).images;
    const at::Tensor y = at::conv2d(images, weight.detach(), {}, 1, 1).to(at::kDouble);
    const auto count = static_cast<double>(images.size(0));
    mean += count * y.mean(at::IntArrayRef{0, 2, 3});
    variance += count * y.var(at::IntArrayRef{0, 2, 3}, /*unbiased=*/true);
    samples += count;
  }
  renew_norms(session, bits, 3, /*done=*/4, [] {});  // 4 batches are an epoch and a part of one
  const auto buffers = session.model().named_buffers();
  EXPECT_TRUE(
      at::allclose(buffers["bn1.running_mean"].to(at::kDouble), mean / samples, 1e-4, 1e-6));
  EXPECT_TRUE(
      at::allclose(buffers["bn1.running_var"].to(at::kDouble), variance / samples, 1e-4, 1e-6));
  EXPECT_EQ(buffers["bn1.num_batches_tracked"].item<std::int64_t>(), batches);
}

TEST(NormPassTest, MovesRunningRangesAndNoWeights) {
  Session session(averaging_recipe());
  const auto copy = [](const auto& dictionary) {
    Tensors tensors;
    for (const auto& item : dictionary) tensors.emplace(item.key(), item.value().detach().clone());
    return tensors;
  };
  const Tensors weights = copy(session.model().named_parameters());
  renew_norms(session, parse_evaluation_bits("max"), 3, 4, [] {});
  for (const auto& item : session.model().named_parameters()) {
    EXPECT_TRUE(at::equal(item.value(), weights.at(item.key()))) << item.key();
    EXPECT_FALSE(item.value().grad().defined());
  }
  const Tensors buffers = copy(session.model().named_buffers());
  EXPECT_EQ(buffers.at("layer1.0.conv1.steps_tracked").item<std::int64_t>(),
            session.task().batches_per_epoch());
}

TEST(TrainStateTest, TheNumberOfPointsIsThereOnlyWhereThereAreSome) {
  TrainState state;
  state.step = 5;
  EXPECT_THAT(to_json(state), testing::Not(HasSubstr("averaged")));
  const auto with = [&](const std::string& number) {
    std::string text = to_json(state);
    text.insert(1, "\"averaged\": " + number + ",");
    return train_state_from_json(text, "state.json", 5);
  };
  EXPECT_EQ(with("5").averaged, 5);
  EXPECT_EQ(train_state_from_json(to_json(with("3")), "state.json", 5).averaged, 3);
  for (const char* bad : {"0", "-1", "6", "1.5", "null", "\"many\""}) {
    const Error error = error_of([&] { with(bad); });
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    EXPECT_THAT(error.what(), HasSubstr("as \"averaged\", found " + std::string(bad)));
  }
}

TEST(WeightAverageTest, IsTheMeanOfWhatWasAdded) {
  torch::nn::Linear model(2, 1);
  WeightAverage average(*model);
  const torch::NoGradGuard no_grad;
  for (int i = 0; i < 4; ++i) {
    model->weight.fill_(i * i);
    average.add(i);
  }
  EXPECT_TRUE(at::equal(average.state().at("weight"), at::full({1, 2}, 3.5F)));
  average.write_to_model();
  EXPECT_TRUE(at::equal(model->weight, at::full({1, 2}, 3.5F)));
}

}  // namespace
}  // namespace bitcycle
