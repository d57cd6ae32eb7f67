// Language models in the trainer: what holds for pictures holds for text.

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/trainer.h"

#include "data/text/made_up_text.h"
#include "io/io_testing.h"
#include "io/temporary_directory.h"
#include "train/callback_sink.h"
#include "train/run_files.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class LanguageTrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(root_ / "ptb.train.txt", made_up_text(120, 1));
    write_file(root_ / "ptb.valid.txt", made_up_text(20, 2));
    write_file(root_ / "ptb.test.txt", made_up_text(23, 3));
  }

  Recipe recipe(const std::string& model, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings = {"data.root=\"" + root_.path().string() + "\"",
                                         "model.name=\"" + model + "\""};
    const std::vector<std::string> sizes =
        model == "lstm_lm"
            ? std::vector<std::string>{"model.hidden=12", "optimizer.lr=5.0", "data.window=7"}
            : std::vector<std::string>{"model.width=16",          "model.inner=24",
                                       "model.heads=2",           "model.layers=2",
                                       "data.window=12",          "optimizer.lr=0.003",
                                       "optimizer.name=\"adamw\""};
    settings.insert(settings.end(), sizes.begin(), sizes.end());
    settings.insert(settings.end(), more.begin(), more.end());
    return parse_recipe(R"(
      steps = 12
      log_every = 4
      [data]
      dataset = "ptb"
      batch_size = 4
      [optimizer]
      clip_norm = 0.25
      weight_decay = 0.0
      [lr_schedule]
      name = "constant"
      [precision]
      backend = "simulate"
      forward = { schedule = "CR", min = 5, max = 8, cycles = 2 }
      backward = 8
      [evaluation]
      every_epochs = 0.3
      [checkpoint]
      every_epochs = 0.3
    )",
                        "language.toml", settings);
  }

  fs::path train(const std::string& name, const Recipe& recipe) {
    fs::create_directories(root_ / name);
    Trainer(recipe, root_ / name).run(StopSignal());
    return root_ / name;
  }
  fs::path train_and_stop(const std::string& name, const Recipe& recipe, Step steps) {
    fs::create_directories(root_ / name);
    const StopSignal stop;
    Trainer trainer(recipe, root_ / name, calling({.step = [steps](const StepReport& report) {
                      if (report.step == steps) std::raise(SIGTERM);
                    }}));
    EXPECT_EQ(trainer.run(stop), TrainOutcome::stopped);
    return root_ / name;
  }
  void resume(const fs::path& run, const Recipe& recipe) {
    Trainer trainer(recipe, run);
    ASSERT_TRUE(trainer.resume());
    EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  }

  TemporaryDirectory root_;
};

std::map<std::string, std::string> contents_but_recipe(const fs::path& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    if (name == "timing.jsonl" || name == "recipe.toml" || !entry.is_regular_file()) continue;
    files[name] = text_of(read_file(entry.path()));
  }
  return files;
}

void expect_same_files(const fs::path& a, const fs::path& b) {
  const auto left = contents_but_recipe(a), right = contents_but_recipe(b);
  ASSERT_EQ(left.size(), right.size());
  for (const auto& [name, text] : left) {
    ASSERT_TRUE(right.contains(name)) << name;
    EXPECT_TRUE(text == right.at(name)) << name << " differs";
  }
}

const char* const kModels[] = {"lstm_lm", "transformer_lm"};

TEST_F(LanguageTrainerTest, LearnsAndReportsPerplexity) {
  for (const char* model : kModels) {
    const fs::path run =
        train(std::string("run-") + model,
              recipe(model, {"steps=200", "optimizer.name=\"adamw\"", "optimizer.lr=0.01"}));
    const json summary = summary_of(run);
    // Six tokens per line, of which two nouns and a verb are free: at best 4^(2/6) 3^(1/6) = 1.9.
    EXPECT_LT(summary["test_of_best"]["perplexity"], 4.0) << model;
    EXPECT_EQ(summary["test_of_best"]["tokens"], 23 * 6 - 1) << model;
    const double nats = summary["test_of_best"]["loss"];
    EXPECT_DOUBLE_EQ(summary["test_of_best"]["perplexity"], std::exp(nats));
    EXPECT_EQ(summary["best_perplexity"].is_number(), true);
    EXPECT_EQ(text_of(read_file(run / "vocabulary.txt")).substr(0, 4), "the\n");
  }
}

TEST_F(LanguageTrainerTest, StoppedAnywhereAndResumedEndsInTheSameBytes) {
  for (const char* model : kModels) {
    for (const char* backend : {"simulate", "integer"}) {
      const Recipe wanted = recipe(model, {std::string("precision.backend=\"") + backend + "\""});
      const std::string name = std::string(model) + backend;
      const fs::path whole = train(name, wanted);
      for (const Step step : {1, 5, 11}) {
        const fs::path run = train_and_stop(name + std::to_string(step), wanted, step);
        resume(run, wanted);
        expect_same_files(whole, run);
      }
    }
  }
}

TEST_F(LanguageTrainerTest, NeitherThreadsNorWorkersNorTheExecutorChangeAByte) {
  for (const char* model : kModels) {
    const fs::path one =
        train(std::string(model) + "1",
              recipe(model, {"threads=1", "data.workers=0", "precision.backend=\"integer\""}));
    const fs::path three =
        train(std::string(model) + "3",
              recipe(model, {"threads=3", "data.workers=3", "precision.backend=\"integer\""}));
    expect_same_files(one, three);
    const auto model_bytes = [](const fs::path& run) {
      return contents_but_recipe(run).at("checkpoints/step-00000012/model.safetensors");
    };
    const fs::path oracle =
        train(std::string(model) + "o", recipe(model, {"precision.scheme=\"integer\""}));
    EXPECT_TRUE(model_bytes(oracle) == model_bytes(one)) << model;
  }
}

TEST_F(LanguageTrainerTest, SchemesOfAnyModelAreResumedToTheByteToo) {
  for (const char* model : kModels) {
    for (const char* scheme : {"sbm-banner", "wageubn-lite"}) {
      const Recipe wanted = recipe(model, {"precision.scheme=\"" + std::string(scheme) + "\""});
      const std::string name = std::string(model) + scheme;
      const fs::path whole = train(name, wanted);
      const fs::path run = train_and_stop(name + "-stopped", wanted, 5);
      resume(run, wanted);
      expect_same_files(whole, run);
    }
  }
}

TEST_F(LanguageTrainerTest, EvaluationScoresTheSameTokensWhateverTheBatch) {
  for (const char* model : kModels) {
    std::vector<std::int64_t> counts;
    for (const char* batch : {"data.batch_size=1", "data.batch_size=3", "data.batch_size=4"}) {
      Session session(recipe(model, {batch}));
      counts.push_back(session.score(Split::test, {}, 0).count);
    }
    EXPECT_EQ(counts, (std::vector<std::int64_t>(3, 23 * 6 - 1))) << model;
  }
}

TEST_F(LanguageTrainerTest, AUniformModelIsAsPerplexedAsThereAreWords) {
  for (const char* model : kModels) {
    Session session(recipe(model, {"precision.forward=0"}));
    const torch::NoGradGuard no_grad;
    for (auto& parameter : session.model().parameters()) parameter.zero_();
    const Score score = session.score(Split::validation, {}, 0);
    const std::string vocabulary = session.task().texts().at("vocabulary.txt");
    const auto words = static_cast<double>(std::ranges::count(vocabulary, '\n'));
    EXPECT_NEAR(score.value("perplexity"), words, 1e-4 * words) << model;
  }
}

TEST_F(LanguageTrainerTest, BytesOfAnyFileAreATextToo) {
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += static_cast<char>((i * i) % 251);
  write_file(root_ / "any.bin", bytes);
  Recipe wanted = recipe("lstm_lm", {"data.dataset=\"text\""});
  wanted.data.root = (root_ / "any.bin").string();
  const fs::path run = train("bytes", wanted);
  const json test = summary_of(run)["test_of_best"];
  const double nats = test["loss"];
  EXPECT_NEAR(test["bits_per_character"].get<double>(), nats / std::log(2.0), 1e-12);
  EXPECT_FALSE(fs::exists(run / "vocabulary.txt"));
}

TEST_F(LanguageTrainerTest, AccumulatedBatchesMakeOneUpdate) {
  const Recipe wanted = recipe("lstm_lm", {"optimizer.accumulate=3", "steps=4"});
  const fs::path whole = train("whole", wanted);
  const fs::path run = train_and_stop("stopped", wanted, 2);
  resume(run, wanted);
  expect_same_files(whole, run);
  Session session(wanted);
  Session single(recipe("lstm_lm"));
  EXPECT_EQ(session.length().steps_per_epoch, (single.length().steps_per_epoch + 2) / 3);
}

// The weights after one step of plain descent.
std::map<std::string, std::vector<float>> weights_of(const fs::path& run) {
  const fs::path file = run / "checkpoints/step-00000001/model.safetensors";
  std::map<std::string, std::vector<float>> weights;
  for (const auto& [name, stored] : decode_safetensors(read_file(file), file.string()).tensors) {
    if (stored.type != DataType::f32) continue;
    weights[name].resize(stored.bytes.size() / sizeof(float));
    std::memcpy(weights[name].data(), stored.bytes.data(), stored.bytes.size());
  }
  return weights;
}

// 726 tokens are 29 windows of 25, in an order that does not depend on the batch, so that two
// batches of 4 hold what one of 8 does. A rate of 1 shows every factor that gradients may have got.
TEST_F(LanguageTrainerTest, AccumulatedBatchesCountAsOneOfTheirSize) {
  write_file(root_ / "ptb.train.txt", made_up_text(121, 1));
  const auto weights_after = [&](const std::string& name, const std::string& batch,
                                 const std::string& accumulate, const std::string& lr) {
    return weights_of(
        train(name, recipe("transformer_lm",
                           {"steps=1", "threads=1", "data.window=25", "data.batch_size=" + batch,
                            "optimizer.accumulate=" + accumulate, "optimizer.name=\"sgd\"",
                            "optimizer.lr=" + lr, "optimizer.clip_norm=0.0", "model.dropout=0.0",
                            "model.attention_dropout=0.0", "model.activation_dropout=0.0",
                            "precision.forward=0", "precision.backward=0"})));
  };
  const auto start = weights_after("start", "8", "1", "1e-30");
  const auto whole = weights_after("whole", "8", "1", "1.0");
  const auto parts = weights_after("parts", "4", "2", "1.0");
  double moved = 0;
  for (const auto& [name, expected] : whole) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(parts.at(name)[i], expected[i], 2e-6) << name;
      moved = std::max(moved, std::abs(double{expected[i]} - start.at(name)[i]));
    }
  }
  EXPECT_GT(moved, 0.01);
}

TEST_F(LanguageTrainerTest, ThePlateauLowersTheRateAndIsResumed) {
  // A rate so large that no evaluation after the first is better.
  const Recipe wanted =
      recipe("lstm_lm", {"lr_schedule.name=\"plateau\"", "lr_schedule.factor=0.25",
                         "optimizer.lr=200.0", "log_every=1", "evaluation.every_epochs=0.08"});
  std::vector<double> rates;
  fs::create_directories(root_ / "whole");
  Trainer(wanted, root_ / "whole",
          calling({.step = [&](const StepReport& report) { rates.push_back(report.lr); }}))
      .run(StopSignal());
  EXPECT_EQ(rates.front(), 200.0);
  EXPECT_LE(rates.back(), 200.0 / 4);
  const fs::path run = train_and_stop("stopped", wanted, 9);
  resume(run, wanted);
  expect_same_files(root_ / "whole", run);
}

TEST_F(LanguageTrainerTest, DivergenceIsReportedWithThePartWhereItIs) {
  for (const char* model : kModels) {
    Recipe wanted = recipe(model, {"optimizer.name=\"sgd\"", "optimizer.clip_norm=0.0",
                                   "precision.backend=\"integer\""});
    wanted.optimizer.lr = 1e30;
    const Error error = error_of([&] { train(std::string("run-") + model, wanted); });
    EXPECT_EQ(error.code(), ErrorCode::diverged) << model;
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("\"rnn"), HasSubstr("\"decoder"),
                                             HasSubstr("\"the embedding\""), HasSubstr("weights")))
        << model;
  }
}

TEST_F(LanguageTrainerTest, ACarriedStateThatIsNotFiniteIsNamed) {
  Task* task = nullptr;
  RunParts parts;
  parts.task = [&](const auto&... arguments) {
    auto opened = open_task(arguments...);
    task = opened.get();
    return opened;
  };
  const auto damage_state = [&](const StepReport&) {
    task->state().at("cell").fill_(std::numeric_limits<float>::quiet_NaN());
  };
  Trainer trainer(recipe("lstm_lm"), root_ / "run", calling({.step = damage_state}), parts);
  const Error error = error_of([&] { trainer.run(StopSignal()); });
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_THAT(error.what(),
              HasSubstr("step 2: the loss is not a number; all layers' outputs for "
                        "the batch alone are finite, but the model's \"cell\" state"));
}

TEST_F(LanguageTrainerTest, AnotherBatchSizeIsRefusedWhereAStateIsCarried) {
  const fs::path run = train_and_stop("run", recipe("lstm_lm"), 3);
  const Recipe wider = recipe("lstm_lm", {"data.batch_size=8"});
  const Error error = error_of([&] { Trainer(wider, run).resume(DataChanges::accept); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("task.safetensors: the state \"cell\""));
  EXPECT_THAT(error.hint(), HasSubstr("data.batch_size of a recurrent model cannot change"));
}

TEST_F(LanguageTrainerTest, AResumedRunKeepsItsVocabulary) {
  const Recipe wanted = recipe("lstm_lm", {"threads=1"});
  const fs::path run = train_and_stop("run", wanted, 5);
  write_file(root_ / "ptb.train.txt", made_up_text(120, 77));
  const Error error = error_of([&] { Trainer(wanted, run).resume(); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_THAT(error.what(), HasSubstr("have changed"));
  // With their consent it goes on, and words keep their numbers, though others come first now.
  const std::string before = text_of(read_file(run / "vocabulary.txt"));
  Trainer trainer(wanted, run);
  ASSERT_TRUE(trainer.resume(DataChanges::accept));
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_EQ(text_of(read_file(run / "vocabulary.txt")), before);
  EXPECT_EQ(Session(wanted, run).task().texts().at("vocabulary.txt"), before);
  EXPECT_NE(Session(wanted).task().texts().at("vocabulary.txt"), before);
}

}  // namespace
}  // namespace bitcycle
