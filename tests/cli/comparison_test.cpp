#include "cli/compare/comparison_text.h"

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ComparedRun run(const std::string& name, std::uint64_t seed, int bits, double score) {
  RunSummary run{
      .run = name, .step = 10, .total = 10, .precision = "static " + std::to_string(bits)};
  run.recipe.seed = seed;
  run.recipe.precision.forward = {.min = bits, .max = bits};
  run.score = {{"accuracy", MetricForm::percent, Better::higher}, score};
  run.gbitops = 2.0 * bits;
  run.saving_percent = 12.5;
  run.training_seconds = 10.0 * bits;
  run.machine = "2 threads of a CPU";
  return {run};
}

TEST(ComparisonTest, RunsThatDifferInTheSeedAloneAreAGroup) {
  const Comparison found = compare_runs(
      {run("a", 1, 4, 50), run("b", 2, 8, 62), run("c", 2, 4, 60), run("d", 1, 8, 54)}, 3);
  ASSERT_EQ(found.groups.size(), 2u);
  const RunGroup& four = found.groups[0];
  EXPECT_EQ(four.name, "static 4");
  EXPECT_EQ(four.score->mean, 55);
  EXPECT_EQ(four.baseline, 1u);
  EXPECT_EQ(four.difference->pairing, Pairing::same_seed);
  EXPECT_EQ(four.difference->value, -3);           // of -4 and -2
  EXPECT_DOUBLE_EQ(*four.difference->error, 1);    // sqrt(2) / sqrt(2)
  EXPECT_DOUBLE_EQ(*four.time_saved_percent, 50);  // 40 s and 80 s
  EXPECT_FALSE(found.groups[1].difference);
}

TEST(ComparisonTest, ARunThatWasMadeAgainIsNoOtherSeed) {
  const Comparison found = compare_runs({run("a", 1, 4, 50), run("again", 1, 4, 50)}, 1);
  EXPECT_EQ(found.groups.size(), 2u);
  EXPECT_FALSE(found.seeds);
  EXPECT_THAT(comparison_text(found), HasSubstr("again"));
}

TEST(ComparisonTest, OnlyFiniteScoresOfFinishedRunsCount) {
  ComparedRun going = run("b", 2, 4, 99);
  going.run.state = SummaryState::unfinished;
  const Comparison found =
      compare_runs({run("a", 1, 4, 50), going, run("c", 3, 4, kNan), run("d", 1, 8, 50)}, 3);
  EXPECT_EQ(found.groups[0].score->count, 1u);
  EXPECT_EQ(found.groups[0].score->mean, 50);
  EXPECT_THAT(comparison_text(found), HasSubstr("b: step 10 of 10"));
}

TEST(ComparisonTest, TimesOfAnotherMachineNetworkOrLengthAreWithheld) {
  ComparedRun machine = run("a", 1, 4, 50), network = machine, length = machine;
  machine.run.machine = "2 threads of another CPU";
  network.run.recipe.model.name = "cifar_resnet38";
  length.run.total = 20;
  for (const ComparedRun& other : {machine, network, length}) {
    const Comparison found = compare_runs({other, run("b", 1, 8, 50)}, 1);
    EXPECT_FALSE(found.groups[0].time_saved_percent);
    EXPECT_TRUE(found.times_withheld);
  }
  EXPECT_FALSE(compare_runs({run("a", 1, 4, 50), run("b", 1, 8, 50)}, 1).times_withheld);
}

TEST(ComparisonTest, CostsAreHeldAgainstStaticUnlessABaselineIsStated) {
  const Comparison found = compare_runs({run("a", 1, 4, 50), run("b", 1, 8, 50)}, 1);
  EXPECT_THAT(comparison_text(found), HasSubstr("12.5 %"));
  EXPECT_THAT(comparison_text(found), HasSubstr("Cost saved: against static at the same"));
  EXPECT_EQ(comparison_json(found)["cost_saved"], "saving_percent");
}

TEST(ComparisonTest, CostsFollowTheStatedBaseline) {
  const std::vector<ComparedRun> runs = {run("a", 1, 4, 50), run("b", 1, 8, 50)};
  const Comparison found = compare_runs(runs, 1, CostReference::baseline);
  EXPECT_DOUBLE_EQ(*found.groups[0].cost_saved_of_baseline_percent, 50);  // 8 and 16 GBitOPs
  EXPECT_FALSE(found.groups[1].cost_saved_of_baseline_percent);
  const std::string text = comparison_text(found);
  EXPECT_THAT(text, HasSubstr("Cost saved: against b. Time saved: measured, against the same."));
  EXPECT_THAT(text, Not(HasSubstr("12.5 %")));
  const auto json = comparison_json(found);
  EXPECT_EQ(json["cost_saved"], "cost_saved_of_baseline_percent");
  EXPECT_DOUBLE_EQ(json["groups"][0]["cost_saved_of_baseline_percent"], 50);
}

TEST(ComparisonTest, GroupsOfSeedsFollowTheStatedBaselineByTheirMeanCosts) {
  ComparedRun second = run("b", 2, 6, 50);
  second.run.gbitops = 4;  // where the first has 12 and the baseline 16
  const Comparison found =
      compare_runs({run("a", 1, 6, 50), second, run("c", 1, 8, 50)}, 2, CostReference::baseline);
  EXPECT_THAT(comparison_text(found), testing::ContainsRegex("static 6 .* 50.0 %"));
}

TEST(ComparisonTest, CostsOfAnotherNetworkDatasetOrLengthAreWithheld) {
  ComparedRun network = run("a", 1, 4, 50), dataset = network, length = network, going = network;
  network.run.recipe.model.name = "cifar_resnet38";
  dataset.run.recipe.data.dataset = "cifar10";
  length.run.total = 20;
  const auto withheld = HasSubstr("Costs are compared between finished runs of one network");
  for (const ComparedRun& other : {network, dataset, length}) {
    const Comparison found = compare_runs({other, run("b", 1, 8, 50)}, 1, CostReference::baseline);
    EXPECT_FALSE(found.groups[0].cost_saved_of_baseline_percent);
    EXPECT_THAT(comparison_text(found), withheld);
    EXPECT_THAT(comparison_text(compare_runs({other, run("b", 1, 8, 50)}, 1)), Not(withheld));
  }
  going.run.state = SummaryState::unfinished;
  const Comparison unfinished =
      compare_runs({run("b", 1, 8, 50), going}, 1, CostReference::baseline);
  EXPECT_THAT(comparison_text(unfinished), withheld);
}

TEST(ComparisonTest, CostsOfOtherBatchesOrSamplesAreWithheld) {
  const std::vector<std::function<void(RunSummary&)>> changes = {
      [](RunSummary& run) { run.recipe.data.batch_size = 64; },
      [](RunSummary& run) { run.recipe.optimizer.accumulate = 2; },
      [](RunSummary& run) { run.recipe.data.limit = 40; },
      [](RunSummary& run) { run.recipe.data.part = "1/2"; },
      [](RunSummary& run) { run.recipe.data.validation = 0.2; },
      [](RunSummary& run) { run.counting = Counting::bitcycle; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ComparedRun other = run("a", 1, 4, 50);
    changes[i](other.run);
    const Comparison found = compare_runs({other, run("b", 1, 8, 50)}, 1, CostReference::baseline);
    EXPECT_FALSE(found.groups[0].cost_saved_of_baseline_percent) << i;
  }
}

TEST(ComparisonTest, RunsOnPicturesOfAnotherPlaceAreNotCompared) {
  ComparedRun here = run("a", 1, 4, 50), there = run("b", 1, 8, 50);
  for (ComparedRun* one : {&here, &there}) one->run.recipe.data.dataset = "image_folder";
  here.run.recipe.data.root = there.run.recipe.data.root = "cats";
  EXPECT_TRUE(compare_runs({here, there}, 1).groups[0].cost_saved_of_baseline_percent);
  there.run.recipe.data.root = "dogs";
  const Comparison found = compare_runs({here, there}, 1);
  EXPECT_FALSE(found.groups[0].cost_saved_of_baseline_percent);
  EXPECT_FALSE(found.groups[0].difference);
  EXPECT_THAT(comparison_text(found), HasSubstr("image_folder (dogs)"));
}

TEST(ComparisonTest, ABaselineThatStandsAloneIsHeldAgainstNothing) {
  const Comparison found = compare_runs({run("a", 1, 4, 50)}, 0, CostReference::baseline);
  EXPECT_THAT(comparison_text(found), Not(HasSubstr("Cost saved:")));
}

TEST(ComparisonTest, CostsOfAnotherMachineAreCompared) {
  ComparedRun other = run("a", 1, 4, 50);
  other.run.machine = "2 threads of another CPU";
  const Comparison found = compare_runs({other, run("b", 1, 8, 50)}, 1, CostReference::baseline);
  EXPECT_TRUE(found.groups[0].cost_saved_of_baseline_percent);
  EXPECT_FALSE(found.groups[0].time_saved_percent);
}

TEST(ComparisonTest, DifferentLengthsAreTold) {
  ComparedRun longer = run("b", 1, 8, 50);
  longer.run.total = 20;
  const std::string text = comparison_text(compare_runs({run("a", 1, 4, 50), longer}, 1));
  EXPECT_THAT(text, HasSubstr("The runs are of different lengths"));
  EXPECT_THAT(text, HasSubstr("  steps  "));
  const std::string same =
      comparison_text(compare_runs({run("a", 1, 4, 50), run("b", 1, 8, 50)}, 1));
  EXPECT_THAT(same, Not(HasSubstr("different lengths")));
  EXPECT_THAT(same, HasSubstr("10 steps"));
}

// A sweep's cell that has not begun has no recipe yet, and the defaults are not its own.
TEST(ComparisonTest, OfACellThatHasNotBegunNothingIsShown) {
  ComparedRun small = run("a", 1, 4, 50), large = run("b", 1, 8, 50), later;
  small.group = "small";
  large.group = "large";
  large.run.recipe.model.name = "cifar_resnet38";
  for (ComparedRun* begun : {&small, &large}) begun->run.recipe.data.dataset = "cifar10";
  small.run.recipe.data.dataset = "cifar100";
  later.group = "later";
  later.run.run = "c";
  later.run.state = SummaryState::unreadable;
  ComparedRun again = later;
  again.run.run = "d";
  const std::string text = comparison_text(compare_runs({small, large, later, again}, 0));
  EXPECT_THAT(text, testing::ContainsRegex("later +- +- +- +0 of 2"));
  EXPECT_THAT(text, Not(HasSubstr(Recipe().data.dataset)));
}

TEST(ComparisonTest, ScoresOfOtherDataAreNotSubtracted) {
  ComparedRun other = run("a", 1, 4, 50);
  other.run.recipe.data.dataset = "cifar10";
  EXPECT_FALSE(compare_runs({other, run("b", 1, 8, 50)}, 1).groups[0].difference);
}

TEST(ComparisonTest, DifferingKeysHaveTheValueOfEveryGroup) {
  const Comparison found = compare_runs({run("a", 1, 4, 50), run("b", 1, 8, 50)}, 1);
  ASSERT_EQ(found.keys.size(), 1u);
  EXPECT_EQ(found.keys[0].key, "precision.forward");
  EXPECT_THAT(found.keys[0].values, testing::ElementsAre("static 4", "static 8"));
}

// What a recipe for text has, and one for pictures has not, follows from the model.
TEST(ComparisonTest, KeysThatFollowFromAnotherNetworkAreCounted) {
  ComparedRun words = run("words", 1, 8, 50);
  words.run.recipe.model.name = "lstm_lm";
  words.run.recipe.data.dataset = "ptb";
  const Comparison found = compare_runs({words, run("pictures", 1, 4, 50)}, 1);
  const std::string brief = comparison_text(found), all = comparison_text(found, KeyList::all);
  for (const char* own : {"model.name", "data.dataset", "precision.forward"}) {
    EXPECT_THAT(brief, HasSubstr(own));
  }
  EXPECT_THAT(brief, Not(HasSubstr("model.hidden")));
  EXPECT_THAT(all, HasSubstr("model.hidden"));
  EXPECT_THAT(all, Not(HasSubstr("more keys")));
  std::size_t lacking = 0;
  for (const DifferingKey& key : found.keys) {
    lacking += key.values[0] == "-" || key.values[1] == "-" ? 1 : 0;
  }
  EXPECT_THAT(brief, HasSubstr(std::to_string(lacking) + " more keys  "));
}

TEST(ComparisonTest, SeedsDifferOnlyWhereNoGroupHasSeveral) {
  const auto with_seeds =
      compare_runs({run("a", 1, 4, 5), run("b", 2, 4, 5), run("c", 3, 8, 5)}, 2);
  EXPECT_THAT(comparison_json(with_seeds)["differing_keys"].dump(), Not(HasSubstr("seed")));
  const auto single = compare_runs({run("a", 1, 4, 5), run("c", 3, 8, 5)}, 1);
  EXPECT_THAT(comparison_json(single)["differing_keys"].dump(), HasSubstr("\"seed\""));
}

TEST(ComparisonTest, ASweepsGroupsAreComparedWithTheirOwnBaselines) {
  std::vector<ComparedRun> runs = {run("a", 1, 4, 50), run("b", 1, 8, 60), run("c", 1, 5, 70),
                                   run("d", 1, 9, 90)};
  const char* groups[] = {"x,lr=1", "y,lr=1", "x,lr=2", "y,lr=2"};
  const char* baselines[] = {"y,lr=1", "y,lr=1", "y,lr=2", "y,lr=2"};
  for (std::size_t i = 0; i < 4; ++i) {
    runs[i].group = groups[i];
    runs[i].baseline = baselines[i];
  }
  const Comparison found = compare_runs(runs, 3);
  EXPECT_EQ(found.groups[0].difference->value, -10);
  EXPECT_EQ(found.groups[2].difference->value, -20);
  EXPECT_FALSE(found.groups[1].baseline);
}

TEST(ComparisonTest, GroupsOfOnePrecisionAreToldApart) {
  ComparedRun other = run("runs/fast", 1, 4, 50);
  other.run.recipe.optimizer.lr = 0.5;
  const Comparison found = compare_runs({run("runs/slow/", 1, 4, 50), other}, 1);
  EXPECT_EQ(found.groups[0].name, "static 4 (slow)");
  EXPECT_EQ(found.groups[1].name, "static 4 (fast)");
}

TEST(ComparisonTest, LengthsAreInStepsOrEpochsAndTheOtherIsUnset) {
  ComparedRun steps = run("a", 1, 4, 50), epochs = run("b", 1, 4, 60);
  steps.run.recipe.steps = 300;
  epochs.run.recipe.epochs = 2.5;
  epochs.run.recipe.model.name = "cifar_resnet74";
  const Comparison found = compare_runs({steps, epochs}, 1);
  const auto values = [&](const std::string& key) {
    const auto at = std::ranges::find(found.keys, key, &DifferingKey::key);
    return at == found.keys.end() ? std::vector<std::string>() : at->values;
  };
  EXPECT_THAT(values("steps"), testing::ElementsAre("300", "-"));
  EXPECT_THAT(values("epochs"), testing::ElementsAre("-", "2.5"));
  EXPECT_THAT(comparison_text(found, KeyList::brief), HasSubstr("epochs"));
}

TEST(ComparisonTest, TheNoteNamesTheBaselineAndHowToChooseAnother) {
  const Comparison found = compare_runs({run("a", 1, 4, 50), run("b", 1, 8, 62)}, 1);
  EXPECT_THAT(comparison_text(found, KeyList::brief),
              HasSubstr("against b.\nAnother baseline: --baseline NAME, for costs too.\n"));
}

}  // namespace
}  // namespace bitcycle::cli
