// The language-model task in float against texts that are laid out, and models that are run, by
// hand.

#include "bitcycle/base/stop_signal.h"
#include "bitcycle/io/file.h"
#include "bitcycle/models/language/lstm_lm.h"
#include "bitcycle/models/language/transformer_lm.h"
#include "bitcycle/tasks/task.h"

#include "data/text/made_up_text.h"
#include "io/temporary_directory.h"

#include <cmath>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// A number per word and per line's end, as they first appear in the texts that it is shown.
class Numbers {
 public:
  at::Tensor of(const std::string& text) {
    std::vector<std::int64_t> tokens;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      for (std::string word; words >> word;) tokens.push_back(number(word));
      tokens.push_back(number("<eos>"));
    }
    return torch::tensor(tokens);
  }

 private:
  std::int64_t number(const std::string& word) {
    return numbers_.emplace(word, static_cast<std::int64_t>(numbers_.size())).first->second;
  }
  std::map<std::string, std::int64_t> numbers_;
};

const std::string kTrain = made_up_text(120, 1);
const std::string kValidation = made_up_text(20, 2);
const std::string kTest = made_up_text(23, 3);

class LanguageModelTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(root_ / "ptb.train.txt", kTrain);
    write_file(root_ / "ptb.valid.txt", kValidation);
    write_file(root_ / "ptb.test.txt", kTest);
  }

  std::unique_ptr<Task> open(const std::vector<std::string>& settings,
                             const RunTexts& stored = {}) const {
    std::vector<std::string> all = {"data.root=\"" + root_.path().string() + "\"",
                                    "data.dataset=\"ptb\"", "model.dropout=0.0"};
    all.insert(all.end(), settings.begin(), settings.end());
    return open_task(parse_recipe("steps = 1", "task.toml", all), at::kCPU, stored);
  }
  std::unique_ptr<Task> open_lstm(const std::string& batch) const {
    auto task = open({"model.name=\"lstm_lm\"", "model.hidden=12", "data.window=7", batch});
    // Weights so large that it shows what state a window began with.
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : task->model().parameters()) parameter.mul_(8);
    return task;
  }
  std::unique_ptr<Task> open_transformer(const std::vector<std::string>& more = {},
                                         const RunTexts& stored = {}) const {
    std::vector<std::string> settings = {"model.name=\"transformer_lm\"",
                                         "model.width=16",
                                         "model.inner=24",
                                         "model.heads=2",
                                         "model.layers=2",
                                         "data.window=12",
                                         "data.batch_size=4"};
    settings.insert(settings.end(), more.begin(), more.end());
    return open(settings, stored);
  }

  TemporaryDirectory root_;
};

// Of tokens [time + 1, columns], row by row, as one window that begins at zero state.
at::Tensor lstm_losses(Task& task, const at::Tensor& tokens) {
  const torch::NoGradGuard no_grad;
  auto& model = dynamic_cast<LstmLmImpl&>(task.model());
  const std::int64_t pairs = tokens.size(0) - 1;
  const LstmOutput output =
      model.forward(tokens.narrow(0, 0, pairs), model.zero_state(tokens.size(1)));
  const at::Tensor chances = output.values.log_softmax(2);
  return -chances.gather(2, tokens.narrow(0, 1, pairs).unsqueeze(2)).squeeze(2);
}

// 720 tokens in 4 columns: 25 windows of 7 pairs, and one of 4.
std::vector<double> window_losses(Task& task) {
  const at::Tensor losses = lstm_losses(task, Numbers().of(kTrain).view({4, 180}).t());
  std::vector<double> windows;
  for (const at::Tensor& window : losses.split(7)) windows.push_back(window.mean().item<double>());
  EXPECT_EQ(windows.size(), 26U);
  return windows;
}

TEST_F(LanguageModelTest, TheWorkOfBatchesIsKnownBeforehand) {
  for (const auto& task : {open_lstm("data.batch_size=4"), open_transformer()}) {
    const torch::NoGradGuard no_grad;
    task->start(0);
    double work = 0;
    for (std::int64_t batch = 1; batch <= 2 * task->batches_per_epoch() + 3; ++batch) {
      work += task->next_loss().work;
      ASSERT_EQ(task->work_of_batches(batch), work);
    }
  }
}

// As if the text were read in one piece; with every epoch from its beginning.
TEST_F(LanguageModelTest, StateIsCarriedFromBatchToBatchOfAnEpoch) {
  const auto task = open_lstm("data.batch_size=4");
  const std::vector<double> expected = window_losses(*task);
  ASSERT_EQ(task->batches_per_epoch(), 26);
  task->start(0);
  for (std::size_t batch = 0; batch < 60; ++batch) {
    EXPECT_NEAR(task->next_loss().loss.item<double>(), expected[batch % 26], 2e-5) << batch;
  }
}

TEST_F(LanguageModelTest, EvaluationsNeitherSeeNorChangeTheCarriedState) {
  const auto task = open_lstm("data.batch_size=4");
  const std::vector<double> expected = window_losses(*task);
  task->start(0);
  const double validation = task->evaluate(Split::validation).value("loss");
  for (std::size_t batch = 0; batch < 5; ++batch) {
    EXPECT_NEAR(task->next_loss().loss.item<double>(), expected[batch], 2e-5) << batch;
    const auto state = task->state();
    const at::Tensor hidden = state.at("hidden").clone();
    EXPECT_EQ(task->evaluate(Split::validation).value("loss"), validation) << batch;
    EXPECT_TRUE(task->state().at("hidden").equal(hidden));
    EXPECT_TRUE(task->model().is_training());
  }
}

TEST_F(LanguageModelTest, AnEvaluationIsCutShortBetweenBatchesAndChangesNothing) {
  const auto task = open_lstm("data.batch_size=4");
  task->start(0);
  const double whole = task->evaluate(Split::test).value("loss");
  int calls = 0;
  const auto stop_at_second = [&] {
    if (++calls == 2) throw Stopped();
  };
  EXPECT_THROW(task->evaluate_in_batches(Split::test, stop_at_second), Stopped);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(task->model().is_training());
  EXPECT_EQ(task->evaluate(Split::test).value("loss"), whole);
}

TEST_F(LanguageModelTest, EvaluationOfOneColumnReadsTheTextInOnePiece) {
  const auto task = open_lstm("data.batch_size=1");
  Numbers numbers;
  numbers.of(kTrain);
  const at::Tensor expected = lstm_losses(*task, numbers.of(kTest).unsqueeze(1)).mean();
  const Score score = task->evaluate(Split::test);
  EXPECT_NEAR(score.value("loss"), expected.item<double>(), 2e-5);
  EXPECT_EQ(score.count, 23 * 6 - 1);
}

// "the cat sees a dog" and "an owl hears the bird" are 18 and 21 characters, newlines 2; the first
// word's 3 are not scored. Of the 12 tokens 11 are.
TEST_F(LanguageModelTest, BitsPerCharacterCountWordsSpacesAndNewlinesBehindTheFirstWord) {
  write_file(root_ / "ptb.test.txt", " the cat sees a dog\n an owl hears the bird\n");
  for (const auto& task : {open_lstm("data.batch_size=1"), open_transformer()}) {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : task->model().parameters()) parameter.zero_();
    const Score score = task->evaluate(Split::test);
    const double words = 4 + 3 + 3 + 1;  // nouns, verbs, articles, <eos>
    EXPECT_EQ(score.count, 11);
    EXPECT_NEAR(score.value("bits_per_character"), 11 * std::log2(words) / 38, 1e-6);
  }
}

// Pair p, the prediction of token p + 1, is made in the first window that does not merely show it.
double windowed_loss(Task& task, const at::Tensor& tokens, std::int64_t window,
                     std::int64_t context) {
  const torch::NoGradGuard no_grad;
  auto& model = dynamic_cast<TransformerLmImpl&>(task.model());
  const std::int64_t pairs = tokens.numel() - 1;
  double nats = 0;
  for (std::int64_t p = 0; p < pairs; ++p) {
    const std::int64_t before = p < window ? 0 : (p - context) / (window - context);
    const std::int64_t first = std::min(before * (window - context), pairs - window);
    const at::Tensor scores = model.forward(tokens.narrow(0, first, window).unsqueeze(0));
    nats -= scores[0][p - first].log_softmax(0)[tokens[p + 1].item<std::int64_t>()].item<double>();
  }
  return nats / static_cast<double>(pairs);
}

TEST_F(LanguageModelTest, ContextIsSeenAndNotScoredInEvaluationsAlone) {
  Numbers numbers;
  numbers.of(kTrain);
  const at::Tensor tokens = numbers.of(kTest);
  std::map<int, double> losses;
  for (const int context : {0, 5}) {
    const auto task = open_transformer({"data.context=" + std::to_string(context)});
    const Score score = task->evaluate(Split::test);
    EXPECT_NEAR(score.value("loss"), windowed_loss(*task, tokens, 12, context), 1e-5) << context;
    EXPECT_EQ(score.count, 23 * 6 - 1);
    EXPECT_EQ(task->batches_per_epoch(), 15) << "719 pairs in windows of 12, 4 per batch";
    losses[context] = score.value("loss");
  }
  EXPECT_GT(std::abs(losses[0] - losses[5]), 1e-3);
}

// The same words in another order: their numbers are those that the run has stored.
TEST_F(LanguageModelTest, StoredWordsKeepTheirNumbers) {
  const auto first = open_transformer();
  const RunTexts stored = first->texts();
  const double loss = first->evaluate(Split::test).value("loss");
  write_file(root_ / "ptb.train.txt", " likes hears sees owl bird dog\n" + kTrain);
  const auto again = open_transformer({}, stored);
  EXPECT_EQ(again->texts(), stored);
  EXPECT_EQ(again->evaluate(Split::test).value("loss"), loss);
  const auto anew = open_transformer();
  EXPECT_NE(anew->texts(), stored);
  EXPECT_NE(anew->evaluate(Split::test).value("loss"), loss);
}

}  // namespace
}  // namespace bitcycle
