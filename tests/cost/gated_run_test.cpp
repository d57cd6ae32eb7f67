// `bitcycle cost`, `schedule --run` and `show` of made-up runs whose gates chose. What `cost` says
// of the recipe, when all samples choose one option, is the oracle of what it says of the run.

#include "cli/run_program.h"
#include "io/temporary_directory.h"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kRecipe =
    "steps = 40\nlog_every = 10\n[model]\nname = \"cifar_resnet8\"\n[data]\ndataset = "
    "\"fashion_mnist\"\nbatch_size = 16\n[precision.dynamic]\nweight = 4\n";

Json planned_cost(const std::string& recipe, const std::string& options = "") {
  return Json::parse(run_program("cost " + recipe + options + " --json").text);
}

class GatedRun {
 public:
  // `batch_share`: how full its batches were on average.
  explicit GatedRun(const std::string& gates, double batch_share = 1) {
    std::ofstream(directory_ / "recipe.toml") << kRecipe << gates;
    static_step_ = batch_share * planned_cost(recipe())["gbitops_static"].get<double>() / 40;
    log(R"({"type":"run","step":0,"backend":"integer","counting":"paper","id":"x"})");
  }

  // `blocks` is for all three of them. The bits are those of before: rounded, of what was passed.
  void choose(int step, const std::string& blocks) {
    log(R"({"type":"step","step":)" + std::to_string(step) +
        R"(,"epoch":1,"loss":2,"weight_bits":4,"activation_bits":8,"error_bits":16,"gbitops":1,)" +
        R"("gbitops_static":)" + Json(static_step_ * step).dump() + R"(,"choices":)" + blocks +
        "}");
  }
  void log(const std::string& line) {
    std::ofstream(directory_ / "metrics.jsonl", std::ios::app) << line << "\n";
  }

  std::string recipe() const { return (directory_ / "recipe.toml").string(); }
  std::string path() const { return directory_.path().string(); }
  Json json(const std::string& command) const {
    const Outcome outcome = run_program(command + " " + path() + " --json");
    EXPECT_EQ(outcome.status, 0) << outcome.text;
    return Json::parse(outcome.text);
  }
  std::string text(const std::string& command) const {
    return run_program(command + " " + path() + " 2>&1").text;
  }

 private:
  TemporaryDirectory directory_;
  double static_step_ = 0;
};

const std::string kTwo = "options = [[3, 6], [6, 12]]\ntarget = 3.0\n";
const std::string kSkip = "options = [[0, 0], [3, 6], [8, 16]]\ntarget = 3.0\n";
const std::string kAllSkip = "[[1,0,0],[1,0,0],[1,0,0]]";

class CheapestRun : public GatedRun {
 public:
  CheapestRun() : GatedRun(kTwo) {
    for (const int step : {10, 20, 30, 40}) choose(step, "[[1,0],[1,0],[1,0]]");
  }
};

Json recipe_json(const GatedRun& run, const std::string& options = "") {
  return planned_cost(run.recipe(), options);
}

void expect_near(const Json& found, const Json& expected, const std::string& what) {
  const double value = expected.get<double>();
  EXPECT_NEAR(found.get<double>(), value, 1e-9 * value) << what;
}

TEST(GatedRunCostTest, MeasuresWhatWasChosenInEnergyAndNormalisedMacs) {
  const CheapestRun run;
  const Json spent = run.json("cost"), planned = recipe_json(run);
  for (const std::string measure : {"normalised_macs", "modelled_joules"}) {
    expect_near(spent[measure], planned[measure + "_least"], measure);
    expect_near(spent[measure + "_static"], planned[measure + "_static"], measure);
  }
  EXPECT_EQ(spent["gbitops"], 1);  // the log's own
  const std::string text = run.text("cost");
  EXPECT_THAT(text, HasSubstr("FracTrain's normalised MACs: "));
  EXPECT_THAT(text, HasSubstr("modelled energy in kJ"));
}

TEST(GatedRunCostTest, IsLinearInTheSharesOfTheChoices) {
  GatedRun run(kTwo);
  run.choose(10, "[[1,0],[1,0],[1,0]]");
  run.choose(40, "[[0,1],[0,1],[0,1]]");
  const Json planned = recipe_json(run);
  const double least = planned["normalised_macs_least"], most = planned["normalised_macs_most"];
  expect_near(run.json("cost")["normalised_macs"], 0.25 * least + 0.75 * most, "a quarter");
}

TEST(GatedRunCostTest, SmallerBatchesCountAsWhatTheyAre) {
  GatedRun full(kTwo), smaller(kTwo, 0.75);
  for (GatedRun* run : {&full, &smaller}) run->choose(40, "[[1,0],[0,1],[1,0]]");
  const Json more = full.json("cost --counting macs"), less = smaller.json("cost --counting macs");
  for (const char* key : {"gbitops", "gbitops_static", "normalised_macs", "gates_gbitops"}) {
    expect_near(less[key], 0.75 * more[key].get<double>(), key);
  }
}

TEST(GatedRunCostTest, IsCountedAnewByAnotherRule) {
  const CheapestRun run;
  for (const std::string rule : {"macs", "bitcycle"}) {
    const Json spent = run.json("cost --counting " + rule);
    const Json planned = recipe_json(run, " --counting " + rule);
    EXPECT_EQ(spent["counting"], rule);
    expect_near(spent["gbitops"], planned["gbitops_least"], rule);
    expect_near(spent["gbitops_static"], planned["gbitops_static"], rule);
  }
}

TEST(GatedRunCostTest, ShowsGatesAndFloatLayersApart) {
  const CheapestRun run;
  const Json spent = run.json("cost"), executed = run.json("cost --counting bitcycle");
  const double samples = 40 * 16, classifier = 64 * 10;
  const Json planned = recipe_json(run);
  expect_near(spent["gates_gbitops"], planned["gates_gbitops_per_sample"].get<double>() * samples,
              "gates");
  // The classifier is in float, which the rule counts at 8/8.
  expect_near(spent["float_as_static_gbitops"], classifier * 3 * 64 * samples / 1e9, "8/8");
  expect_near(spent["executed_gbitops"], executed["gbitops"], "total");
  expect_near(spent["executed_float_gbitops"], executed["float_gbitops"], "32 x 32");
  EXPECT_EQ(executed["float_layers"], Json({"conv1", "fc"}));
  EXPECT_THAT(run.text("cost"), HasSubstr("with all float layers counted 32 x 32 (rule bitcycle)"));
  EXPECT_THAT(run.text("cost --counting bitcycle"), Not(HasSubstr("with all float layers")));
}

TEST(GatedRunCostTest, ChoicesOfOtherOptionsAreNotCountedAnew) {
  GatedRun run(kTwo);
  run.choose(10, kAllSkip);
  const std::string text = run.text("cost --counting macs");
  EXPECT_THAT(text, HasSubstr("--counting macs needs the bits of every layer"));
}

TEST(GatesCostTest, DearOptionsAreNamedByTheRuleOfTheTable) {
  const GatedRun run("options = [[3, 6], [4, 8], [6, 12], [8, 16]]\ntarget = 3.0\n");
  for (const std::string rule : {"paper", "macs", "bitcycle"}) {
    const Json json = recipe_json(run, " --counting " + rule);
    const double fixed = json["gbitops_static"].get<double>() / (40 * 16);
    const std::string text = run_program("cost " + run.recipe() + " --counting " + rule).text;
    for (const Json& option : json["options"]) {
      const double percent = 100 * option["gbitops_per_sample"].get<double>() / fixed;
      std::ostringstream note;
      note << option["option"].get<std::string>() << " (" << std::fixed << std::setprecision(1)
           << percent << " %)";
      EXPECT_EQ(text.find(note.str()) != std::string::npos, percent >= 100)
          << rule << ": " << note.str();
    }
  }
}

TEST(GatesCostTest, FloatLayersAreShownAt32BitsBesideThePapersRule) {
  const std::string path =
      BITCYCLE_SOURCE_DIR "/recipes/fractrain/imagenet-resnet18-fractrain.toml";
  const auto json = [&](const std::string& rule) {
    return Json::parse(run_program("cost " + path + " --steps 100 --json --counting " + rule).text);
  };
  const Json paper = json("paper"), executed = json("bitcycle");
  EXPECT_EQ(paper["executed_gbitops_most"], executed["gbitops_most"]);
  EXPECT_EQ(paper["executed_float_gbitops_per_sample"], executed["float_gbitops_per_sample"]);
  EXPECT_EQ(paper["float_as_static_layers"].front(), "conv1");
  EXPECT_EQ(paper["float_as_static_layers"].back(), "fc");
  const std::string text = run_program("cost " + path + " --steps 100").text;
  EXPECT_THAT(text, HasSubstr("float layers, which the rule counts at 8/8,"));
  EXPECT_THAT(text, HasSubstr("with all float layers counted 32 x 32 (rule bitcycle), "));
}

TEST(GatedRunBitsTest, SkippedBlocksHaveNoBits) {
  GatedRun run(kSkip);
  run.choose(20, kAllSkip);
  const Json json = run.json("schedule --run");
  EXPECT_EQ(json["mean_activation_bits"], 0);
  EXPECT_EQ(json["mean_error_bits"], 0);
  EXPECT_EQ(json["mean_skipped"], 1);
  EXPECT_THAT(run.text("schedule --run"), HasSubstr("activations 0, errors 0; 100.0 % skipped"));
  for (const std::string command : {"schedule --run", "cost", "show"}) {
    EXPECT_THAT(run.text(command), Not(HasSubstr("8a/16"))) << command;
  }
  EXPECT_THAT(run.text("show"), HasSubstr("blocks skipped, in percent"));
}

TEST(GatedRunBitsTest, MeansAreNotMeansOfRoundedBits) {
  GatedRun run(kTwo);
  run.choose(10, "[[0.875,0.125],[1,0],[1,0]]");
  run.choose(40, "[[0.75,0.25],[1,0],[0.5,0.5]]");
  const Json json = run.json("schedule --run");
  const double share = 0.25 * (0.125 / 3) + 0.75 * (0.75 / 3);
  EXPECT_NEAR(json["mean_activation_bits"].get<double>(), 3 + 3 * share, 1e-12);
  EXPECT_NEAR(json["mean_error_bits"].get<double>(), 6 + 6 * share, 1e-12);
  EXPECT_NEAR(json["rows"][9]["error_bits"].get<double>(), 6.25, 1e-12);
  EXPECT_NEAR(json["rows"][10]["error_bits"].get<double>(), 7.5, 1e-12);
  const std::string text = run.text("schedule --run");
  EXPECT_THAT(text, HasSubstr("\nerrors\n"));
  EXPECT_THAT(text, HasSubstr("\nactivations\n"));
}

TEST(GatedRunBitsTest, StagesAreShownWithTheirTargets) {
  GatedRun run("options = [[3, 6], [6, 12]]\ntarget = [2.0, 3.0, 4.0]\n");
  run.choose(10, "[[1,0],[1,0],[1,0]]");
  run.log(
      R"({"type":"stage","step":20,"from":"cp 2 %","to":"cp 3 %","reason":"the loss has settled"})");
  run.choose(20, "[[1,0],[1,0],[1,0]]");
  run.choose(30, "[[0,1],[0,1],[0,1]]");
  const Json stages = run.json("schedule --run")["stages"];
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0]["cp_percent"], 2);
  EXPECT_EQ(stages[0]["steps"], 20);
  EXPECT_EQ(stages[0]["activation_bits"], 3);
  EXPECT_EQ(stages[1]["first"], 20);
  EXPECT_EQ(stages[1]["error_bits"], 12);
  EXPECT_NEAR(stages[1]["chosen_cp_percent"].get<double>(), 4.688, 5e-4);
  EXPECT_THAT(run.text("schedule --run"), HasSubstr("cp 3 %"));
}

TEST(RunCostTest, AScheduledRunIsCountedAnewByAnotherRule) {
  const TemporaryDirectory run;
  std::ofstream(run / "recipe.toml")
      << "steps = 40\n[model]\nname = \"cifar_resnet8\"\n[data]\ndataset = \"fashion_mnist\"\n"
         "batch_size = 16\n[precision]\nforward = 4\nbackward = 8\n";
  const std::string path = run.path().string();
  std::ofstream(run / "metrics.jsonl")
      << R"({"type":"step","step":40,"epoch":1,"weight_bits":4,"activation_bits":4,)"
      << R"("error_bits":8,"gbitops":1,"gbitops_static":)"
      << planned_cost(path + "/recipe.toml")["gbitops_static"] << "}\n";
  const auto gbitops = [](const std::string& arguments, const char* key) {
    return Json::parse(run_program("cost " + arguments + " --json").text)[key].get<double>();
  };
  EXPECT_EQ(gbitops(path, "gbitops"), 1);
  for (const std::string rule : {" --counting macs", " --counting bitcycle"}) {
    const double planned = gbitops(path + "/recipe.toml" + rule, "gbitops_least");
    EXPECT_NEAR(gbitops(path + rule, "gbitops"), planned, 1e-9 * planned) << rule;
  }
}

}  // namespace
}  // namespace bitcycle
