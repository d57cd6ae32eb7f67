#include "bitcycle/config/sweep.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/scale.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A directory with two recipes, in which sweeps are read as "s.toml".
class SweepTest : public testing::Test {
 protected:
  SweepTest() {
    // By process, since tests run side by side.
    directory_ = testing::TempDir() + "sweep_test-" + std::to_string(::getpid());
    std::filesystem::create_directories(directory_);
    write("base.toml", "steps = 20\n[data]\ndataset = \"synthetic\"\n");
    write("other.toml", "epochs = 2\n[data]\ndataset = \"synthetic\"\n[optimizer]\nlr = 0.3\n");
  }
  ~SweepTest() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
  }
  std::vector<SweepCell> cells(const std::string& text) const {
    return parse_sweep(text, "s.toml", directory_);
  }
  std::vector<std::string> names(const std::string& text) const {
    std::vector<std::string> names;
    for (const SweepCell& cell : cells(text)) names.push_back(cell.name);
    return names;
  }
  std::vector<std::string> baselines(const std::string& text) const {
    std::vector<std::string> names;
    for (const SweepCell& cell : cells(text)) names.push_back(cell.baseline);
    return names;
  }
  // What a sweep is refused with, the hint behind it.
  std::string mistake(const std::string& text) const {
    try {
      cells(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::recipe);
      return std::string(error.what()) + " | " + error.hint();
    }
    return "none";
  }

  std::string directory_;
};

TEST_F(SweepTest, ARecipeAloneIsOneCellWithItsSeed) {
  const auto all = cells("recipe = \"base.toml\"\n");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "base");
  EXPECT_EQ(all[0].recipe.seed, 1u);
  EXPECT_EQ(all[0].recipe.steps, 20);
}

TEST_F(SweepTest, VariantsAxesAndSeedsMultiplyInTheOrderOfTheFile) {
  const std::string text =
      "recipe = \"base.toml\"\nseeds = [7, 2]\n"
      "[axes]\noptimizer.lr = [0.1, 0.05]\ndata.batch_size = [8]\n"
      "[variants.zeta]\n[variants.alpha]\nprecision.forward = 4\n";
  EXPECT_THAT(
      names(text),
      ElementsAre("zeta,lr=0.1,batch_size=8,seed=7", "zeta,lr=0.1,batch_size=8,seed=2",
                  "zeta,lr=0.05,batch_size=8,seed=7", "zeta,lr=0.05,batch_size=8,seed=2",
                  "alpha,lr=0.1,batch_size=8,seed=7", "alpha,lr=0.1,batch_size=8,seed=2",
                  "alpha,lr=0.05,batch_size=8,seed=7", "alpha,lr=0.05,batch_size=8,seed=2"));
  const SweepCell last = cells(text).back();
  EXPECT_EQ(last.group, "alpha,lr=0.05,batch_size=8");
  EXPECT_EQ(last.recipe.seed, 2u);
  EXPECT_EQ(last.recipe.optimizer.lr, 0.05);
  EXPECT_EQ(last.recipe.data.batch_size, 8);
  EXPECT_EQ(last.recipe.precision.forward.max, 4);
}

TEST_F(SweepTest, ACellIsTheRecipeWithTheSameSettings) {
  const auto all = cells(
      "recipe = \"base.toml\"\nseeds = [3]\n[set]\noptimizer.lr = 0.2\nlog_every = 7\n"
      "[variants.cpt.precision]\nforward = { schedule = \"CR\", min = 3, max = 8, cycles = 2 }\n"
      "[[variants.cpt.precision.override]]\nlayers = \"conv1\"\nfull_precision = true\n");
  const Recipe expected =
      read_recipe(directory_ + "/base.toml",
                  {"optimizer.lr=0.2", "log_every=7", "seed=3",
                   "precision.forward={ schedule = \"CR\", min = 3, max = 8, cycles = 2 }",
                   "precision.override=[{ layers = \"conv1\", full_precision = true }]"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(to_toml(all[0].recipe), to_toml(expected));
}

TEST_F(SweepTest, VariantsMayHaveRecipesOfTheirOwn) {
  const auto all = cells(
      "[variants.a]\nrecipe = \"base.toml\"\n[variants.b]\nrecipe = \"other.toml\"\nsteps = 5\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].recipe.steps, 20);
  EXPECT_EQ(all[1].recipe.optimizer.lr, 0.3);
  EXPECT_EQ(all[1].recipe.steps, 5);  // in place of the recipe's epochs
}

TEST_F(SweepTest, SeveralRecipesMultiplyToo) {
  EXPECT_THAT(names("recipe = [\"base.toml\", \"other.toml\"]\n"), ElementsAre("base", "other"));
  EXPECT_THAT(names("recipe = [\"base.toml\", \"other.toml\"]\n[variants.v]\n[variants.w]\n"),
              ElementsAre("base,v", "other,v", "base,w", "other,w"));
}

TEST_F(SweepTest, AxesThatEndAlikeAreCalledByTheirWholeKeys) {
  EXPECT_THAT(names("recipe = \"base.toml\"\n[axes]\nlr_schedule.name = [\"cosine\"]\n"
                    "optimizer.name = [\"adam\", \"sgd\"]\n"),
              ElementsAre("lr_schedule.name=cosine,optimizer.name=adam",
                          "lr_schedule.name=cosine,optimizer.name=sgd"));
}

TEST_F(SweepTest, ValuesBecomeNamesThatDirectoriesMayHave) {
  EXPECT_THAT(
      names("recipe = \"base.toml\"\n[axes]\n"
            "precision.forward = [8, { schedule = \"CR\", min = 3, max = 8 }, \"CR 3:8 x2\"]\n"),
      ElementsAre("forward=8", "forward=schedule-CR-min-3-max-8", "forward=CR-3-8-x2"));
}

TEST_F(SweepTest, TheBaselineIsTheLastVariantAtTheSamePlaceOfTheAxes) {
  const std::string grid =
      "recipe = \"base.toml\"\n[axes]\noptimizer.lr = [0.1, 0.2]\n[variants.a]\n[variants.b]\n";
  EXPECT_THAT(baselines(grid), ElementsAre("b,lr=0.1", "b,lr=0.2", "b,lr=0.1", "b,lr=0.2"));
  EXPECT_THAT(baselines("baseline = \"a\"\n" + grid),
              ElementsAre("a,lr=0.1", "a,lr=0.2", "a,lr=0.1", "a,lr=0.2"));
  EXPECT_THAT(baselines("baseline = \"a,lr=0.2\"\n" + grid),
              ElementsAre("a,lr=0.2", "a,lr=0.2", "a,lr=0.2", "a,lr=0.2"));
}

TEST_F(SweepTest, WithoutVariantsTheBaselineIsTheLastGroup) {
  EXPECT_THAT(baselines("recipe = \"base.toml\"\n[axes]\noptimizer.lr = [0.1, 0.2]\n"),
              ElementsAre("lr=0.2", "lr=0.2"));
}

TEST_F(SweepTest, VariantsMayHaveBaselinesAndAPapersFigures) {
  const std::string text =
      "recipe = \"base.toml\"\n[variants.a]\nbaseline = \"b\"\n"
      "paper = { accuracy = 92.5, gbitops = 2e8 }\n[variants.b]\n[variants.c]\n";
  EXPECT_THAT(baselines(text), ElementsAre("b", "b", "c"));  // b and c are compared with nothing
  EXPECT_THAT(baselines("baseline = \"c\"\n" + text), ElementsAre("b", "c", "c"));
  EXPECT_THAT(cells(text)[0].paper,
              ElementsAre(std::pair("accuracy", 92.5), std::pair("gbitops", 2e8)));
  EXPECT_TRUE(cells(text)[1].paper.empty());
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[variants.a]\nbaseline = \"d\"\n"),
              HasSubstr("there is no variant \"d\""));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[variants.a]\npaper = { accuracy = \"x\" }\n"),
              HasSubstr("paper.accuracy: expected a number"));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[variants.a]\npaper = { acuracy = 3 }\n"),
              AllOf(HasSubstr("s.toml:3:11: paper: there is no figure \"acuracy\""),
                    HasSubstr("\"accuracy\"")));
}

TEST_F(SweepTest, SomeCellsCanBeTakenScaledAndChanged) {
  const std::string text =
      "recipe = \"base.toml\"\nseeds = [1, 2]\n[variants.a]\n"
      "lr_schedule.warmup_steps = 10\n[variants.b]\n";
  const auto cells =
      parse_sweep(text, "s.toml", directory_,
                  {.settings = {"optimizer.lr=0.25"}, .only = "a,seed=2", .scale = 0.25});
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].name, "a,seed=2");
  EXPECT_EQ(cells[0].baseline, "b");
  EXPECT_EQ(cells[0].recipe.steps, 5);
  EXPECT_EQ(cells[0].recipe.lr_schedule.warmup_steps, 3);
  EXPECT_EQ(cells[0].recipe.optimizer.lr, 0.25);
  EXPECT_EQ(cells[0].stated.steps, 20);
  EXPECT_EQ(cells[0].stated.optimizer.lr, 0.1);
  EXPECT_THROW(parse_sweep(text, "s.toml", directory_, {.only = "z"}), Error);
}

// Settings may be for the chosen cells alone, and unread cells are not asked whether they fit.
TEST_F(SweepTest, UnreadCellsHaveTheirNamesAlone) {
  const auto cells =
      parse_sweep("recipe = \"base.toml\"\n[variants.a]\nno.such = 1\n[variants.b]\n", "s.toml",
                  directory_, {.recipes = SweepOptions::Recipes::unread});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].name, "a");
  EXPECT_EQ(cells[0].baseline, "b");
}

// However short, every count that was there stays.
TEST(ScaleTest, ShortensWhatIsCountedInSteps) {
  const Recipe recipe = parse_recipe(
      "steps = 1000\n[data]\ndataset = \"synthetic\"\n[lr_schedule]\nwarmup_steps = 100\n"
      "[precision.progressive]\nforward = [4, 8]\nbackward = [8, 8]\nperiod = 50\n",
      "r.toml");
  const Recipe shorter = scaled(recipe, 0.001);
  EXPECT_EQ(shorter.steps, 1);
  EXPECT_EQ(shorter.lr_schedule.warmup_steps, 1);
  EXPECT_EQ(shorter.precision.progressive->period, 1);
  EXPECT_EQ(scaled(recipe, 0.1).precision.progressive->period, 5);
  EXPECT_FALSE(shorter.averaging);
  Recipe averaged = recipe;
  averaged.averaging = AveragingRecipe{.every_epochs = 3};
  EXPECT_DOUBLE_EQ(scaled(averaged, 0.1).averaging->every_epochs, 0.3);  // as many weights
  EXPECT_DOUBLE_EQ(scaled(averaged, 1e-6).averaging->every_epochs, 0.001);
  EXPECT_EQ(scaled(recipe, 0.1).evaluation.every_epochs, 1);
  EXPECT_EQ(fingerprint(scaled(recipe, 1)), fingerprint(recipe));
}

// The rate falls at evaluations, so there have to be as many.
TEST(ScaleTest, PlateausAreLookedForOftener) {
  const Recipe recipe = parse_recipe(
      "epochs = 40\n[data]\ndataset = \"synthetic\"\n[lr_schedule]\nname = \"plateau\"\n"
      "[evaluation]\nevery_epochs = 2\n",
      "r.toml");
  EXPECT_DOUBLE_EQ(scaled(recipe, 0.1).evaluation.every_epochs, 0.2);
  EXPECT_DOUBLE_EQ(scaled(recipe, 1e-6).evaluation.every_epochs, 0.001);
  EXPECT_EQ(fingerprint(scaled(recipe, 1)), fingerprint(recipe));
}

TEST_F(SweepTest, CellsThatDifferInTheSeedHaveOneIdentityBesides) {
  std::set<std::string> prints;
  for (SweepCell& cell : cells("recipe = \"base.toml\"\nseeds = [1, 2, 3]\n")) {
    cell.recipe.seed = 1;
    prints.insert(fingerprint(cell.recipe));
  }
  EXPECT_EQ(prints.size(), 1u);
}

TEST_F(SweepTest, UnknownKeysAreNamedWithTheirPlaceAndTheNearest) {
  EXPECT_THAT(mistake("recipe = \"base.toml\"\nseed = [1]\n"),
              AllOf(StartsWith("s.toml:2:1: unknown key seed"), HasSubstr("\"seeds\"")));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[set]\noptimizer.momentun = 0.8\n"),
              AllOf(StartsWith("s.toml:3:"), HasSubstr("unknown key optimizer.momentun"),
                    HasSubstr("\"momentum\"")));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[variants.a]\noptimizer.lrr = 0.8\n"),
              AllOf(StartsWith("s.toml:3:"), HasSubstr("unknown key optimizer.lrr")));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[axes]\noptimizer.lrr = [1, 0.8]\n"),
              AllOf(StartsWith("s.toml:3:"), HasSubstr("unknown key optimizer.lrr")));
}

TEST_F(SweepTest, WrongValuesAreNamedWhereTheyStand) {
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[axes]\noptimizer.lr = [0.1, \"fast\"]\n"),
              AllOf(StartsWith("s.toml:3:22: optimizer.lr: expected a number"),
                    HasSubstr("found \"fast\"")));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\nseeds = [1, -5]\n"),
              StartsWith("s.toml:2:13: seed"));
  EXPECT_THAT(mistake("recipe = \"base.toml\"\n[set]\nmodel.name = \"resnet\"\n"),
              HasSubstr("s.toml:3:"));
}

TEST_F(SweepTest, ARecipeThatIsNoFileIsLookedForByItsName) {
  SweepOptions options;
  options.find_recipe = [&](const std::string& name) -> std::optional<std::filesystem::path> {
    if (name != "known" && name != "base.toml") return std::nullopt;
    return directory_ + "/other.toml";
  };
  const auto rate = [&](const std::string& recipe) {
    const std::string text = "recipe = \"" + recipe + "\"\n";
    return parse_sweep(text, "s.toml", directory_, options).front().recipe.optimizer.lr;
  };
  EXPECT_EQ(rate("known"), 0.3);
  EXPECT_NE(rate("base.toml"), 0.3) << "a file comes first";
  EXPECT_THROW(rate("unknown"), Error);
}

TEST_F(SweepTest, EveryKeyRefusesWhatItCannotBe) {
  EXPECT_THAT(mistake("seeds = [1]\n"), HasSubstr("s.toml: expected a recipe, found none"));
  EXPECT_THAT(mistake("recipe = 3\n"), StartsWith("s.toml:1:10: recipe: expected the path"));
  EXPECT_THAT(mistake("recipe = []\n"), StartsWith("s.toml:1:10: recipe: expected a recipe"));
  EXPECT_THAT(mistake("recipe = \"none.toml\"\n"), HasSubstr("there is no file"));
  EXPECT_THAT(mistake("recipe = [\"base.toml\", \"base.toml\"]\n"), HasSubstr("two are called"));
  const std::string head = "recipe = \"base.toml\"\n";
  EXPECT_THAT(mistake(head + "seeds = 3\n"), StartsWith("s.toml:2:9: seeds: expected a list"));
  EXPECT_THAT(mistake(head + "seeds = []\n"), StartsWith("s.toml:2:9: seeds: expected a list"));
  EXPECT_THAT(mistake(head + "seeds = [1, 1.5]\n"), StartsWith("s.toml:2:13: seeds: expected"));
  EXPECT_THAT(mistake(head + "seeds = [1, 1]\n"), HasSubstr("seeds: there are two of 1"));
  EXPECT_THAT(mistake(head + "baseline = 8\n"), StartsWith("s.toml:2:12: baseline: expected"));
  EXPECT_THAT(
      mistake(head + "baseline = \"statik\"\n[variants.static]\n"),
      AllOf(HasSubstr("s.toml:2:12: baseline: there is no variant"), HasSubstr("\"static\"")));
  EXPECT_THAT(mistake(head + "set = 1\n"), StartsWith("s.toml:2:7: set: expected a table"));
  EXPECT_THAT(mistake(head + "axes = 1\n"), StartsWith("s.toml:2:8: axes: expected a table"));
  EXPECT_THAT(mistake(head + "[axes]\noptimizer.lr = 0.1\n"),
              StartsWith("s.toml:3:16: axes.optimizer.lr: expected a list of values, found 0.1"));
  EXPECT_THAT(mistake(head + "[axes]\noptimizer.lr = []\n"), HasSubstr("expected a list"));
  EXPECT_THAT(mistake(head + "[axes]\noptimizer.lr = [0.1, 0.1]\n"), HasSubstr("both be called"));
  EXPECT_THAT(mistake(head + "[axes]\nseed = [1, 2]\n"), HasSubstr("Write seeds = [1, 2]."));
  EXPECT_THAT(mistake(head + "variants = 1\n"), StartsWith("s.toml:2:12: variants: expected"));
  EXPECT_THAT(mistake(head + "[variants]\na = 1\n"), HasSubstr("variants.a: expected a table"));
  EXPECT_THAT(mistake(head + "[variants.\"a/b\"]\n"), HasSubstr("expected a name of letters"));
  EXPECT_THAT(mistake(head + "[variants.\"..\"]\n"), HasSubstr("expected a name of letters"));
  for (const std::string file : {"logs", "sweep.json", "table.txt"}) {
    EXPECT_THAT(mistake(head + "[variants.\"" + file + "\"]\n"), HasSubstr("no file of the sweep"));
  }
  EXPECT_THAT(mistake(head + "[variants." + std::string(200, 'a') + "]\n"),
              HasSubstr("at most 120 letters"));
  EXPECT_THAT(mistake(head + "seeds = [1, 2]\n[variants.a]\nseed = 3\n"),
              StartsWith("s.toml:4:8: seed stands beside seeds"));
  EXPECT_THAT(mistake(head + "seeds = [1\n"), StartsWith("s.toml:"));
}

TEST_F(SweepTest, AMistakeOfTheRecipeNamesItsFileAndTheCell) {
  write("broken.toml", "steps = 20\n[data]\ndataset = \"synthetic\"\nbatch_size = 0\n");
  EXPECT_THAT(mistake("recipe = \"broken.toml\"\n[variants.v]\n"),
              AllOf(HasSubstr("broken.toml:4:"), HasSubstr("(in cell v)")));
}

TEST_F(SweepTest, GridsBeyondReasonAreRefused) {
  std::string list = "1";
  for (int i = 2; i <= 200; ++i) list += ", " + std::to_string(i);
  EXPECT_THAT(mistake("recipe = \"base.toml\"\nseeds = [" + list + "]\n[axes]\nlog_every = [" +
                      list + "]\n"),
              HasSubstr("at most 10000 cells, found 40000"));
}

}  // namespace
}  // namespace bitcycle
