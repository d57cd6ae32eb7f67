#include "bitcycle/config/recipe.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RecipeTest, QuotesAreAdvisedForBareWordsAlone) {
  const auto hint = [](const char* text) {
    try {
      parse_recipe(text, "r.toml");
    } catch (const Error& error) {
      return error.hint();
    }
    return std::string("none");
  };
  const auto advises_quotes = testing::HasSubstr("quotes");
  EXPECT_THAT(hint("[data]\nroot = photos"), advises_quotes);
  EXPECT_THAT(hint("steps = 1\n[data"), testing::Not(advises_quotes));
  EXPECT_THAT(hint("steps = 1 2"), testing::Not(advises_quotes));
}

TEST(RecipeTest, ALengthIsAllThatARecipeNeeds) {
  const Recipe recipe = parsed("steps = 10");
  EXPECT_EQ(recipe.steps, 10);
  EXPECT_EQ(recipe.model.name, "cifar_resnet20");
  EXPECT_EQ(recipe.precision.forward.max, 8);
}

TEST(RecipeTest, ReadsEveryKindOfValue) {
  const Recipe recipe = parsed(R"(
    seed = 9223372036854775807
    epochs = 3
    [model]
    classes = 100
    [data]
    dataset = "cifar100"
    augment = "none"
    [optimizer]
    lr = 1
    [lr_schedule]
    at = [0.25, 0.5]
    warmup = "linear"
    [precision]
    forward = { schedule = "CR", min = 3, max = 8, cycles = 32, cycle_length = "floor" }
    [[precision.override]]
    layers = "conv1"
    full_precision = true
    [[precision.override]]
    layers = "layer1.*"
    weight = 4
    [evaluation]
    bits = 6
  )");
  EXPECT_EQ(recipe.seed, 9223372036854775807U);
  EXPECT_EQ(recipe.epochs, 3);
  EXPECT_EQ(recipe.model.classes, 100);
  EXPECT_EQ(recipe.data.augment, DataRecipe::Augment::none);
  EXPECT_EQ(recipe.optimizer.lr, 1);
  EXPECT_THAT(recipe.lr_schedule.at, ElementsAre(0.25, 0.5));
  EXPECT_EQ(recipe.lr_schedule.warmup, LearningRateRecipe::Warmup::linear);
  EXPECT_EQ(recipe.precision.forward.name, "CR");
  EXPECT_EQ(recipe.precision.forward.cycles, 32);
  EXPECT_EQ(recipe.precision.forward.cycle_length, CycleLength::floor);
  ASSERT_EQ(recipe.precision.overrides.size(), 2U);
  EXPECT_TRUE(recipe.precision.overrides[0].full_precision);
  EXPECT_EQ(recipe.precision.overrides[1].weight->max, 4);
  EXPECT_EQ(recipe.precision.overrides[1].activation, std::nullopt);
  EXPECT_EQ(recipe.evaluation.bits, "6");
}

TEST(RecipeTest, AScheduleMayBeAWidthAWordAnExpressionOrATable) {
  const auto forward = [](const std::string& value) {
    return parsed("steps = 10\n[precision]\nforward = " + value).precision.forward;
  };
  EXPECT_EQ(forward("6").name, "static");
  EXPECT_EQ(forward("6").min, 6);
  EXPECT_EQ(forward("6").max, 6);
  EXPECT_EQ(forward("0").max, 0);
  EXPECT_EQ(forward("\"fp\"").max, 0);
  EXPECT_EQ(forward("\"CR 3:8 x2\"").name, "CR 3:8 x2");
  EXPECT_EQ(parsed("steps = 10\n[precision.forward]\nschedule = \"LT\"\nmin = 3\nmax = 8")
                .precision.forward.min,
            3);
}

struct Mistake {
  const char* text;
  const char* message;
  const char* hint = "";
};

// Every text is a complete file but for the mistake; positions count from 1.
const Mistake kMistakes[] = {
    // Keys.
    {"steps = 1\nsed = 2", "r.toml:2:1: unknown key sed", "Did you mean \"seed\"?"},
    {"steps = 1\n[optimizer]\nmomentun = 0.9", "r.toml:3:1: unknown key optimizer.momentun",
     "Did you mean \"momentum\"?"},
    {"steps = 1\nbatch_size = 9", "r.toml:2:1: unknown key batch_size",
     "Did you mean \"data.batch_size\"?"},
    {"steps = 1\n[modell]\nname = \"x\"", "r.toml:2:2: unknown key modell",
     "Did you mean \"model\"?"},
    {"steps = 1\n[precision.forward]\nschedule = \"CR\"\ncycels = 3",
     "r.toml:4:1: unknown key precision.forward.cycels", "Did you mean \"cycles\"?"},
    {"steps = 1\n[[precision.override]]\nlayer = \"conv1\"",
     "r.toml:3:1: unknown key precision.override[0].layer", "Did you mean \"layers\"?"},
    // What is no TOML.
    {"steps = 1\n[data]\nroot = photos", "r.toml:3", "Texts stand in quotes"},
    {"steps = 1\n[data", "r.toml:2", ""},
    // Types.
    {"steps = \"many\"", "r.toml:1:9: steps: expected a whole number from 0 to ", ""},
    {"steps = 1.5", "r.toml:1:9: steps: expected a whole number"},
    {"steps = true", "found true"},
    {"steps = 1\nmodel = 3", "r.toml:2:9: model: expected a table, found 3"},
    {"steps = 1\n[model]\nname = 3", "r.toml:3:8: model.name: expected a string, found 3"},
    {"steps = 1\n[model]\nname = [1]", "expected a string, found a list"},
    {"steps = 1\n[optimizer]\nlr = \"big\"",
     "r.toml:3:6: optimizer.lr: expected a number from 0 to 1000000, found \"big\""},
    {"steps = 1\n[lr_schedule]\nat = 0.5", "lr_schedule.at: expected a list of numbers"},
    {"steps = 1\n[lr_schedule]\nat = [0.5, \"x\"]", "r.toml:3:12: lr_schedule.at"},
    {"steps = 1\n[precision]\noverride = 3", "expected a list of tables"},
    {"steps = 1\n[precision]\noverride = [3]", "precision.override: expected a table, found 3"},
    {"steps = 1\n[[precision.override]]\nlayers = \"conv1\"\nfull_precision = 1",
     "r.toml:4:18: precision.override[0].full_precision: expected true or false, found 1"},
    {"steps = 1\n[precision]\nforward = 3.5",
     "precision.forward: expected a width in bits, \"fp\", or a table with a schedule, found 3.5"},
    // Ranges and words.
    {"steps = -1", "found -1"},
    {"steps = 99999999999999",
     "r.toml:1:9: steps: expected a whole number from 0 to 1000000000000"},
    {"steps = 1\nversion = 1", "version: expected a whole number equal to 2, found 1"},
    {"steps = 1\nseed = -1", "seed: expected a whole number of at least 0"},
    {"epochs = nan", "epochs: expected a number"},
    {"epochs = inf", "epochs: expected a number from 0 to 1000000, found inf"},
    {"steps = 1\n[data]\nbatch_size = 0",
     "data.batch_size: expected a whole number from 1 to 65536"},
    {"steps = 1\n[optimizer]\nname = \"sgdd\"",
     "r.toml:3:8: optimizer.name: expected one of \"sgd\", \"adam\", \"adamw\", "
     "\"fairseq_adam\", \"bert_adam\", \"nesterov\", \"fairseq_nag\", found \"sgdd\"",
     "Did you mean \"sgd\"?"},
    {"steps = 1\n[optimizer]\ndecay = \"biases\"",
     "optimizer.decay: expected one of \"all\", \"weights\", found \"biases\""},
    {"steps = 1\n[optimizer]\nclip_norm = -1",
     "optimizer.clip_norm: expected a number from 0 to 1000000, found -1"},
    {"steps = 1\n[model]\nname = \"transformer_lm\"\n[data]\ndataset = \"text\"\nwindow = 32\n"
     "context = 32",
     "r.toml:7:11: data.context: expected less than the window of 32 tokens, found 32"},
    {"steps = 1\n[precision]\nscheme = 1",
     "precision.scheme: expected one of \"auto\", \"sbm\", \"integer\", \"dorefa\", "
     "\"sbm-banner\", \"wageubn-lite\", \"wageubn-full\", found 1"},
    {"steps = 1\n[precision]\nscheme = \"sbm\"\nbackend = \"integer\"",
     "r.toml:3:10: precision.backend \"integer\" expects a scheme with integer kernels, found "
     "\"sbm\"",
     "Leave precision.scheme out"},
    {"steps = 1\n[precision]\nscheme = \"dorefa\"\nbackend = \"integer\"",
     "r.toml:3:10: precision.backend \"integer\" expects a scheme with integer kernels, found "
     "\"dorefa\"",
     "choose backend = \"simulate\" or \"auto\""},
    {"steps = 1\n[precision]\nscheme = \"wageubn-ful\"", "found \"wageubn-ful\"",
     "Did you mean \"wageubn-full\"?"},
    {"steps = 1\n[model]\nname = \"lstm_lm\"\n[data]\ndataset = \"ptb\"\n[precision]\n"
     "scheme = \"dorefa\"",
     "r.toml:7:10: precision.scheme \"dorefa\" is defined for networks for pictures: expected one "
     "in "
     "model.name, found lstm_lm",
     "clips what layers read to 0..1"},
    {"steps = 1\n[model]\nname = \"transformer_lm\"\n[data]\ndataset = \"ptb\"\n[precision]\n"
     "scheme = \"wageubn-full\"",
     "expected one in model.name, found transformer_lm", "It quantizes batch norm."},
    {"steps = 1\n[optimizer]\nname = \"adam\"\n[precision]\nscheme = \"wageubn-full\"",
     "r.toml:5:10: precision.scheme \"wageubn-full\" quantizes the arithmetic of SGD: expected "
     "optimizer.name \"sgd\", found \"adam\"",
     "wageubn-lite"},
    {"steps = 1\n[precision]\nscheme = \"wageubn-lite\"\nforward = 1",
     "r.toml:4:11: precision.scheme \"wageubn-lite\" expects at least 2 bits, found 1",
     "Raise the lower bound"},
    {"steps = 9\n[precision]\nscheme = \"wageubn-full\"\nforward = 8\n"
     "backward = { schedule = \"CR\", min = 1, max = 8 }",
     "expects at least 2 bits, found 1"},
    {"steps = 1\n[precision]\nforward = 33", "expected a whole number from 0 to 32, found 33"},
    {"steps = 1\n[precision]\nforward = 33",
     "r.toml:3:11: precision.forward: expected a whole number from 0 to 32, found 33"},
    {"steps = 1\n[precision]\nforward = { schedule = \"CRR\" }",
     "r.toml:3:11: ", "Did you mean \"CR\"?"},
    {"steps = 1\n[precision]\nforward = \"CR 3:8 x\"", "r.toml:3:11: "},
    {"steps = 1\n[precision]\nforward = \"CR\"",
     "r.toml:3:11: schedule CR: expected a range of bits to move in, found none",
     "{ schedule = \"CR\", min = 3, max = 8 }"},
    {"steps = 1\n[precision]\nbackward = { schedule = \"LT\", max = 8 }",
     "r.toml:3:12: schedule LT: expected a range"},
    {"steps = 1\n[[precision.override]]\nlayers = \"conv1\"\nweight = \"4 until 0.5, RR\"",
     "r.toml:4:10: schedule RR: expected a range"},
    {"steps = 1\n[precision]\nforward = { min = 3 }",
     "r.toml:3:11: precision.forward: expected a schedule, found none"},
    {"steps = 1\n[precision]\nforward = { schedule = \"CR\", min = 0 }",
     "min must be 1 to 32 bits"},
    {"steps = 1\n[evaluation]\nbits = \"maximum\"", "r.toml:3:8: ", ""},
    {"steps = 1\ndevice = \"gpu\"",
     "r.toml:2:10: device: expected \"cpu\", \"cuda\" or \"cuda:N\", found \"gpu\""},
    {"steps = 1\ndevice = \"cuda:x\"", "found \"cuda:x\""},
    {"steps = 1\n[model]\nname = \"cifar_resnet2O\"", "r.toml:3:8: ", "cifar_resnet20"},
    {"steps = 1\n[model]\nname = \"cifar_resnet21\"", "r.toml:3:8: ", "cifar_resnet20"},
    {"steps = 1\n[data]\ndataset = \"cifar\"", "r.toml:3:11: there is no dataset \"cifar\"",
     "Did you mean \"cifar10\"?"},
    // Contradictions.
    {"", "r.toml: expected steps or epochs, found neither"},
    {"steps = 0", "r.toml:1:9: expected steps or epochs, found neither"},
    {"steps = 1\nepochs = 1", "r.toml:2:10: expected one of steps and epochs, found both"},
    {"steps = 1\n[precision]\nforward = { schedule = \"CR\", min = 8, max = 3 }",
     "r.toml:3:36: precision.forward: min is 8 and max is 3, expected min <= max"},
    {"steps = 1\n[precision]\nforward = { schedule = \"static\", min = 3, max = 8 }",
     "r.toml:3:11: schedule static: has one width"},
    {"steps = 1\n[precision]\nforward = { schedule = \"CR\", beta = 0.5 }",
     "precision.forward.beta applies only when precision.forward.schedule is RR, RTV or RTH"},
    {"steps = 4\n[precision]\nforward = { schedule = \"CR\", min = 3, cycles = 8, "
     "cycle_length = \"floor\" }",
     "r.toml:3:11: "},
    {"steps = 1\n[data]\nvalidation = 0",
     "r.toml:3:14: evaluation.best_on is \"validation\", but data.validation is 0",
     "best_on = \"test\""},
    {"steps = 1\n[data]\nimage_size = 64",
     "data.image_size applies only when data.dataset is \"image_folder\""},
    {"steps = 1\n[optimizer]\nname = \"adam\"\nmomentum = 0.9",
     "r.toml:4:12: optimizer.momentum applies only when optimizer.name is \"sgd\"",
     "Leave it out, or change optimizer.name."},
    {"steps = 1\n[optimizer]\nbeta1 = 0.9",
     "optimizer.beta1 applies only when optimizer.name is \"adam\", \"adamw\", "
     "\"fairseq_adam\" or \"bert_adam\""},
    {"steps = 1\n[optimizer]\nname = \"fairseq_nag\"\nbeta2 = 0.9",
     "r.toml:4:9: optimizer.beta2 applies only when optimizer.name is \"adam\""},
    {"steps = 1\n[optimizer]\nname = \"bert_adam\"\nmomentum = 0.9",
     "optimizer.momentum applies only when optimizer.name is \"sgd\", \"nesterov\" or "
     "\"fairseq_nag\""},
    {"steps = 1\n[lr_schedule]\nname = \"cosine\"\nat = [0.5]",
     "lr_schedule.at applies only when lr_schedule.name is \"piecewise\""},
    {"steps = 1\n[lr_schedule]\nname = \"plateau\"\nfactor = 1.5",
     "r.toml:4:10: lr_schedule.factor: expected at most 1 with \"plateau\", found 1.5"},
    {"steps = 1\n[lr_schedule]\nname = \"cosine\"\nshrink = 0.75",
     "lr_schedule.shrink applies only when lr_schedule.name is \"sgdr\""},
    {"steps = 1\n[lr_schedule]\nname = \"inverse_sqrt\"\norigin = \"warmup\"",
     "lr_schedule.origin applies only when lr_schedule.name is not \"constant\", "
     "\"inverse_sqrt\" or \"plateau\""},
    {"steps = 1\n[lr_schedule]\nname = \"plateau\"\nat = [0.5]",
     "lr_schedule.at applies only when lr_schedule.name is \"piecewise\""},
    {"steps = 1\n[lr_schedule]\nat = [0.5, 0.5]", "r.toml:3:6: lr_schedule.at: expected fractions"},
    {"steps = 5\n[lr_schedule]\nwarmup_steps = 2\nwarmup_fraction = 0.1",
     "r.toml:4:19: lr_schedule.warmup_fraction applies only when lr_schedule.warmup_steps is 0"},
    {"steps = 5\n[model]\nname = \"lstm_lm\"\n[data]\ndataset = \"text\"\nvalidation = 0.9\ntest = "
     "0.9",
     "r.toml:6:14: data.validation and data.test: expected fractions below 1 together, found 0.9 "
     "and 0.9"},
    {"steps = 1\n[[precision.override]]\nlayers = \"conv1\"\nfull_precision = true\nforward = 8",
     "r.toml:5:11: precision.override[0].forward applies only when "
     "precision.override[0].full_precision is false"},
    {"steps = 1\n[[precision.override]]\nfull_precision = true",
     "precision.override[0]: expected layers"},
    {"steps = 1\n[[precision.override]]\nlayers = \"conv1\"",
     "r.toml:2:1: precision.override[0]: expected bits or full_precision, found neither"},
    {"steps = 1\n[[precision.override]]\nlayers = \"conv2.*\"\nforward = 8",
     "r.toml:3:10: precision.override[0]: no layer fits \"conv2.*\"", "Layer names look like"},
    // Stages.
    {"steps = 1\n[precision.progressive]\nforward = [3, 8]",
     "r.toml:2:1: precision.progressive.backward: expected the bits of each stage, found none",
     "backward = [6, 6, 8, 8]"},
    {"steps = 1\n[precision.progressive]", "precision.progressive.forward: expected the bits"},
    {"steps = 1\n[precision]\nprogressive = 8",
     "r.toml:3:15: precision.progressive: expected a table, found 8"},
    {"steps = 1\n[precision.progressive]\nforward = 8",
     "precision.progressive.forward: expected a list of whole numbers from 0 to 32, found 8"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 33]",
     "r.toml:3:15: precision.progressive.forward: expected a whole number from 0 to 32, found 33"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 4, 8]\nbackward = [6, 8]",
     "r.toml:4:12: precision.progressive.backward: expected bits for the 3 stages of forward, "
     "found 2"},
    {"steps = 1\n[precision.progressive]\nforward = [8]\nbackward = [8]",
     "precision.progressive.forward: expected at least 2 stages, found 1", "precision.forward"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 8, 4]\nbackward = [8, 8, 8]",
     "r.toml:3:11: precision.progressive.forward: expected bits that do not fall from stage to "
     "stage, found 4 after 8"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 8]\nbackward = [0, 8]",
     "precision.progressive.backward: expected bits that do not fall from stage to stage, found 8 "
     "after 0"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 8]\nbackward = [8, 8]\nturning_points = 3",
     "r.toml:5:18: precision.progressive.turning_points: expected 1 to 1, one between each two of "
     "the 2 stages, found 3"},
    {"steps = 1\n[precision.progressive]\nepsilon = 0",
     "precision.progressive.epsilon: expected a number from 1e-09 to 1000, found 0"},
    {"steps = 1\n[precision.progressive]\nalpha = 1.5",
     "precision.progressive.alpha: expected a number from 1e-06 to 1, found 1.5"},
    {"steps = 1\n[precision.progressive]\nwindow = 1",
     "precision.progressive.window: expected a whole number from 2 to 1000000, found 1"},
    {"steps = 1\n[precision.progressive]\nepsilom = 1", "unknown key precision.progressive.epsilom",
     "Did you mean \"epsilon\"?"},
    {"steps = 1\n[precision.progressive]\nloss = \"accuracy\"",
     "precision.progressive.loss: expected one of \"cross_entropy\", \"perplexity\""},
    {"steps = 1\n[precision.progressive]\nforward = [3, 8]\nbackward = [8, 8]\n"
     "deadlines = [0.5, 0.7]",
     "r.toml:5:13: precision.progressive.deadlines: expected 1, one for each turning point, found "
     "2"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 4, 8]\nbackward = [8, 8, 8]\n"
     "deadlines = [0.5, 0.5]",
     "precision.progressive.deadlines: expected fractions above 0 that rise"},
    {"steps = 1\n[precision]\nforward = 8\n[precision.progressive]\nforward = [3, 8]\n"
     "backward = [8, 8]",
     "r.toml:3:11: precision.forward applies only when precision.progressive is left out"},
    {"steps = 1\n[precision.progressive]\nforward = [3, 8]\nbackward = [8, 8]\nloss = \"total\"",
     "r.toml:5:8: precision.progressive.loss: expected \"cross_entropy\" or \"perplexity\", found "
     "\"total\"",
     "[precision.dynamic]"},
    // Parts.
    {"steps = 1\n[data]\npart = \"3/2\"",
     "r.toml:3:8: data.part: expected one of the parts 1 to 2 of 2, found \"3/2\"",
     "\"1/2\" is the first of two halves"},
    {"steps = 1\n[data]\npart = \"x\"",
     "r.toml:3:8: data.part: expected a part such as \"1/2\", found \"x\""},
    {"steps = 1\n[data]\npart = 0.5", "r.toml:3:8: data.part: expected"},
    // Syntax.
    {"steps = ", "r.toml:1:"},
    {"steps = 1\nsteps = 2", "r.toml:2:"},
    {"steps = 1\n[data]\n[data]", "r.toml:3:"},
    {"steps = 1\n[data\n", "r.toml:2:"},
    {"steps = 1\nmodel = { name = \"x\"", "r.toml:2:"},
    {"steps = 99999999999999999999999", "r.toml:1:32: "},
    {"steps = 1 # \xff\xfe", "r.toml:1:"},
    {"\x89PNG\r\n\x1a\n", "r.toml:1:1: "},
};

TEST(RecipeTest, EveryMistakeIsOneErrorWithItsPlaceAndACure) {
  for (const Mistake& mistake : kMistakes) {
    const std::string found = complaint(mistake.text);
    EXPECT_THAT(found, HasSubstr(mistake.message)) << mistake.text;
    EXPECT_THAT(found, HasSubstr(mistake.hint)) << mistake.text;
    EXPECT_EQ(found.find('\n'), found.npos) << found;
  }
}

TEST(RecipeTest, AFileThatCannotBeReadIsARecipeError) {
  for (const char* path : {"/nowhere/x.toml", "/"}) {
    try {
      read_recipe(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::recipe);
      EXPECT_THAT(error.what(), HasSubstr("cannot read " + std::string(path)));
    }
  }
}

TEST(DifferencesTest, NamesWhatChangesTheResultAndNothingElse) {
  const Recipe a = parsed("steps = 10");
  Recipe b = a;
  b.threads = 7;
  b.log_every = 3;
  b.data.workers = 5;
  b.data.root = "/elsewhere";
  b.checkpoint.keep = 9;
  b.checkpoint.every_epochs = 0.5;
  EXPECT_THAT(differences(a, b), IsEmpty());
  b.optimizer.lr = 0.05;
  b.precision.forward = {.name = "CR", .min = 3};
  b.precision.overrides.push_back({"conv1", true, {}, {}, {}, {}});
  b.model.classes = 5;
  EXPECT_THAT(
      differences(a, b),
      ElementsAre("model.classes: unset -> 5", "optimizer.lr: 0.1 -> 0.05",
                  HasSubstr("precision.forward: 8 -> { schedule = \"CR\", min = 3"),
                  "precision.override: [] -> [{ layers = \"conv1\", full_precision = true }]"));
}

// What the first recipes of this version had; a run that began then goes on under the same
// identity.
TEST(FingerprintTest, KeysThatCameLaterCountOnlyWhereTheyAreNotDefault) {
  const std::string backend = "\n[precision]\nbackend = \"simulate\"\n";  // the default then
  EXPECT_EQ(fingerprint(parsed("steps = 5" + backend)), "796b967c3a5729ba");
  const std::string cycles = "steps = 5\n[lr_schedule]\nname = \"sgdr\"\n";
  const std::string adam = "[optimizer]\nname = \"adam\"\n" + backend;
  EXPECT_EQ(fingerprint(parsed(cycles + adam)), "7252c2d6d57e42bb");
  for (const char* later :
       {"lr_schedule.shrink=0.75", "lr_schedule.floor=0.5", "lr_schedule.origin=warmup",
        "optimizer.decay=weights", "optimizer.clip_norm=1"}) {
    EXPECT_NE(fingerprint(parsed(cycles + adam, {later})), "7252c2d6d57e42bb") << later;
  }
}

}  // namespace
}  // namespace bitcycle
