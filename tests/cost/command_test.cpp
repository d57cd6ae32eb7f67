// `bitcycle cost` and `bitcycle models` as a user runs them.

#include "cli/run_program.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

Json run_json(const std::string& arguments) {
  const Outcome outcome = run_program(arguments + " --json");
  EXPECT_EQ(outcome.status, 0) << arguments;
  return Json::parse(outcome.text);
}

TEST(CostCommandTest, PrintsTheFiguresOfCptAsJson) {
  const Json json = run_json(
      "cost cifar_resnet74 --bits 3:8 --grad-bits 8 --cycles 32 --steps 64000 --batch 128 "
      "--classes 100");
  EXPECT_EQ(json["model"], "cifar_resnet74");
  EXPECT_EQ(json["counting"], "paper");
  EXPECT_EQ(json["macs"], 168'220'928);
  EXPECT_EQ(json["ops"], 169'654'528);
  EXPECT_EQ(json["params"], 1'153'268);
  EXPECT_NEAR(json["gbitops"].get<double>(), 1.690e8, 0.0005e8);
  EXPECT_NEAR(json["gbitops_static"].get<double>(), 2.668e8, 0.0005e8);
  EXPECT_NEAR(json["saving_percent"].get<double>(), 36.673, 0.0005);
  EXPECT_NEAR(json["mean_bits"].get<double>(), 5.499, 1e-9);
  EXPECT_NEAR(json["modelled_hours_zc706"].get<double>(), 35.5, 0.05);
}

TEST(CostCommandTest, OneWidthIsStaticAndSavesNothing) {
  const Json json = run_json("cost resnet18 --bits 6 --grad-bits 6");
  EXPECT_EQ(json["saving_percent"], 0);
  EXPECT_EQ(json["classes"], 1000);
  EXPECT_EQ(json["gbitops"], json["gbitops_static"]);
}

TEST(CostCommandTest, EveryShippedRecipeHasACost) {
  const std::filesystem::path recipes = std::filesystem::path(BITCYCLE_SOURCE_DIR) / "recipes";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(recipes)) {
    const std::string name = entry.path().stem().string();
    const bool sweep = entry.path().parent_path().filename() == "sweeps" ||
                       name.starts_with("table") || name.starts_with("figure");
    if (entry.path().extension() != ".toml" || sweep) continue;
    const Json json = run_json("cost " + entry.path().string() + " --steps 100");
    EXPECT_GT(json["gbitops_least"].get<double>(), 0) << entry.path();
  }
}

// Of language models by the recipes that ship: 40 epochs of PTB's 929,589 tokens, in 20 streams of
// 46,479 whose last window is shorter.
TEST(CostCommandTest, WhatIsAssumedOfAModelIsCalledSo) {
  EXPECT_EQ(40 * ((929'589 / 20 - 1 + 34) / 35), 53'120);
  EXPECT_THAT(
      run_program("cost lstm_lm").text,
      HasSubstr("run: 53120 steps of 700 tokens (assumed: 40 epochs of PTB, 20 windows of 35 "
                "a step; --steps, --batch otherwise)\n"));
  EXPECT_THAT(run_program("cost transformer_lm --steps 10 --set data.window=64").text,
              HasSubstr("run: 10 steps of 256 tokens (assumed: 4 windows of 64 a step; --batch "
                        "otherwise)\n"));
  EXPECT_THAT(run_program("cost cifar_resnet8 --batch 7").text,
              HasSubstr("run: 64000 steps of 7 samples (assumed: CPT's on CIFAR; --steps "
                        "otherwise)\n"));
  EXPECT_THAT(run_program("cost lstm_lm --steps 10 --batch 7").text,
              HasSubstr("run: 10 steps of 7 tokens\n"));
  EXPECT_EQ(run_json("cost lstm_lm --steps 10")["assumed"].dump(), R"(["batch"])");
}

TEST(CostCommandTest, StepsThatAreAssumedForEpochsAreCalledSo) {
  const std::string recipes = "cost " BITCYCLE_SOURCE_DIR "/recipes/";
  EXPECT_THAT(run_program(recipes + "ptb-lstm200.toml --steps 800").text,
              HasSubstr("800 steps of 700 tokens (assumed for its 6 epochs"));
  EXPECT_THAT(run_program(recipes + "demo-cpt.toml").text,
              HasSubstr("1200 steps of 128 samples\n"));
}

TEST(CostCommandTest, ARecipesTextSaysHowManyWordsAreCounted) {
  const std::filesystem::path recipe = testing::TempDir() + "words.toml";
  const auto words = [&](const std::string& dataset) {
    std::ofstream(recipe) << "steps = 10\n[model]\nname = \"lstm_lm\"\n[data]\ndataset = \""
                          << dataset << "\"\nroot = \"somewhere\"\n";
    return run_program("cost " + recipe.string()).text;
  };
  EXPECT_THAT(words("text"), HasSubstr("lstm_lm, 256 words"));
  EXPECT_THAT(words("ptb"), HasSubstr("lstm_lm, 10000 words"));
  EXPECT_THAT(words("wikitext2"), HasSubstr("lstm_lm, 33278 words"));
  EXPECT_THAT(words("wikitext103"), HasSubstr("lstm_lm, 267735 words"));
}

TEST(CostCommandTest, RecipesHaveNormalisedMacsAndModelledEnergy) {
  const std::string recipes = BITCYCLE_SOURCE_DIR "/recipes/fractrain/cifar100-resnet74-";
  const Json fixed = run_json("cost " + recipes + "sbm.toml");
  EXPECT_NEAR(fixed["normalised_macs_most"].get<double>(), 2.584e14, 0.0005e14);
  EXPECT_EQ(fixed["modelled_joules_least"], fixed["modelled_joules_static"]);
  const Json staged = run_json("cost " + recipes + "pfq.toml");
  EXPECT_LT(staged["modelled_joules_least"], staged["modelled_joules_most"]);
  EXPECT_LT(staged["modelled_joules_most"], staged["modelled_joules_static"]);
  const Json model = run_json("cost cifar_resnet74 --classes 100 --bits 8 --grad-bits 8");
  EXPECT_NEAR(model["modelled_joules"]["total"].get<double>(),
              fixed["modelled_joules_most"].get<double>(), 1e-6);
}

TEST(CostCommandTest, WhateverMovesNeedsARange) {
  const Outcome bits = run_program("cost resnet18 --bits CR 2>&1");
  EXPECT_EQ(bits.status, 2);
  EXPECT_THAT(bits.text, HasSubstr("--bits: schedule CR: expected a range of bits"));
  EXPECT_THAT(bits.text, HasSubstr("\"CR 3:8\""));
  const Outcome gradient = run_program("cost resnet18 --grad-bits 'LT x4' 2>&1");
  EXPECT_EQ(gradient.status, 2);
  EXPECT_THAT(gradient.text, HasSubstr("--grad-bits: schedule LT: expected a range of bits"));
}

TEST(CostCommandTest, PassesAndLayersAddUpToTheTotal) {
  const Json json = run_json("cost cifar_mobilenet_v2 --per-layer --counting bitcycle");
  const double total = json["gbitops"].get<double>();
  double passes = 0, layers = 0;
  for (const Json& pass : json["gbitops_by_pass"]) passes += pass.get<double>();
  for (const Json& layer : json["layers"]) layers += layer["gbitops"].get<double>();
  EXPECT_NEAR(passes / total, 1, 1e-12);
  EXPECT_NEAR(layers / total, 1, 1e-12);
  EXPECT_EQ(json["layers"].size(), 58U);
}

TEST(CostCommandTest, CycleLengthDecidesTheLeftOverSteps) {
  // 600600 steps in 32 cycles leave 24 steps, which CPT's rule spends at the lower bound.
  const std::string run_of_cpt = "cost resnet18 --bits 4:8 --steps 600600 --batch 256";
  const double exact = run_json(run_of_cpt)["mean_bits"].get<double>();
  const double floor = run_json(run_of_cpt + " --cycle-length floor")["mean_bits"].get<double>();
  EXPECT_LT(floor, exact);
}

TEST(CostCommandTest, TakesGradientRangesAndOtherImages) {
  const Json json =
      run_json("cost cifar_resnet20 --bits 6 --grad-bits 6:16 --image-size 28 --channels 1");
  EXPECT_EQ(json["input"], Json({1, 28, 28}));
  EXPECT_EQ(json["static_grad_bits"], 16);
  EXPECT_GT(json["saving_percent"].get<double>(), 0);
}

TEST(CostCommandTest, TextNamesTheRuleAndSaysModelled) {
  const Outcome outcome = run_program("cost cifar_resnet20 --counting macs --per-layer");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr("counting rule: macs"));
  EXPECT_THAT(outcome.text, HasSubstr("modelled time"));
  EXPECT_THAT(outcome.text, HasSubstr("layer3.2.conv2"));
}

// The paper's DFQ of ResNet-74: all samples at [3, 6] cost 54 / (3 * 64) of static 8/8 in the
// blocks.
TEST(CostCommandTest, SaysWhatTheOptionsOfGatesCost) {
  const std::string recipe = BITCYCLE_SOURCE_DIR "/recipes/fractrain/cifar100-resnet74-dfq.toml";
  const Json json = run_json("cost " + recipe);
  const double stem = 3 * 16 * 9 * 1024 + 2 * 16 * 1024, classifier = 6400;
  const double blocks = 169'654'528 - stem - classifier;
  ASSERT_EQ(json["options"].size(), 5U);
  EXPECT_EQ(json["options"][0]["option"], "[3, 6]");
  EXPECT_NEAR(json["options"][0]["cp_percent"].get<double>(), 1.758, 5e-4);
  EXPECT_DOUBLE_EQ(json["options"][0]["gbitops_in_blocks"].get<double>(), blocks * 54 / 1e9);
  EXPECT_DOUBLE_EQ(json["float_gbitops_per_sample"].get<double>(), stem * 3 * 1024 / 1e9);
  EXPECT_EQ(json["float_layers"], Json({"conv1"}));
  EXPECT_NEAR(json["gbitops_static"].get<double>(), 2.668e8, 0.0005e8);
  EXPECT_NEAR(json["cp_most"].get<double>(), 4.688, 5e-4);
  ASSERT_EQ(json["targets"].size(), 1U);
  // Where all blocks choose alike cp 3 is 92.16 bit operations, of 3 x 1024, on each of their ops.
  const double besides = json["gates_gbitops_per_sample"].get<double>() +
                         json["float_gbitops_per_sample"].get<double>() +
                         json["float_as_static_gbitops_per_sample"].get<double>();
  EXPECT_NEAR(json["targets"][0]["gbitops_per_sample"].get<double>(),
              besides + blocks * 92.16 / 1e9, 1e-9);
  EXPECT_EQ(json["gbitops_at_targets_least"], json["gbitops_at_targets_most"]);
}

TEST(CostCommandTest, CountsGatesAgainstTheSameRulesStaticRun) {
  const std::string recipe = BITCYCLE_SOURCE_DIR "/recipes/fractrain/cifar100-resnet74-dfq.toml";
  for (const std::string rule : {"paper", "macs", "bitcycle"}) {
    const Json gates = run_json("cost " + recipe + " --counting " + rule);
    const Json fixed =
        run_json("cost cifar_resnet74 --classes 100 --bits 8 --grad-bits 8 --counting " + rule);
    EXPECT_DOUBLE_EQ(gates["gbitops_static"].get<double>(), fixed["gbitops"].get<double>()) << rule;
  }
}

TEST(CostCommandTest, MeasuresGatesInEnergyAndNormalisedMacsToo) {
  const std::string recipe = BITCYCLE_SOURCE_DIR "/recipes/fractrain/cifar100-resnet74-dfq.toml";
  const Json gates = run_json("cost " + recipe);
  const Json fixed = run_json("cost cifar_resnet74 --classes 100 --bits 8 --grad-bits 8");
  const auto number = [](const Json& json, const char* key) { return json[key].get<double>(); };
  EXPECT_DOUBLE_EQ(number(gates, "normalised_macs_static"), number(fixed, "normalised_macs"));
  EXPECT_NEAR(number(gates, "modelled_joules_static"),
              fixed["modelled_joules"]["total"].get<double>(),
              1e-9 * number(gates, "modelled_joules_static"));
  for (const std::string measure : {"normalised_macs", "modelled_joules"}) {
    const double least = number(gates, (measure + "_least").c_str());
    const double target = number(gates, (measure + "_at_targets_least").c_str());
    const double most = number(gates, (measure + "_most").c_str());
    EXPECT_LT(0, least) << measure;
    EXPECT_LT(least, target) << measure;
    EXPECT_LT(target, most) << measure;
  }
}

TEST(CostCommandTest, MistakesExitWithTwoAndNameTheNearest) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"cost cifar_resnt74", "\"cifar_resnet74\""},
      {"cost cifar_resnet75", "\"cifar_resnet74\""},
      {"cost resnet18 --counting papr", "\"paper\""},
      {"cost resnet18 --schedule CS", "Did you mean \"C"},
      {"cost resnet18 --cycle-length flor", "\"floor\""},
      {"cost resnet18 --bits 8:3", "--bits"},
      {"cost resnet18 --grad-bits 64", "--grad-bits"},
      {"cost resnet18 --steps 0", "--steps"},
      {"cost resnet18 --image-size 8", "too small"},
      {"cost", "model"},
  };
  for (const auto& [arguments, expected] : mistakes) {
    const Outcome outcome = run_program(std::string(arguments) + " 2>&1");
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.text, HasSubstr(expected));
  }
}

TEST(ModelsCommandTest, ListsParametersAndMacs) {
  const Json json = run_json("models");
  ASSERT_EQ(json.size(), 14U);
  EXPECT_EQ(json[11]["model"], "resnet50");
  EXPECT_EQ(json[11]["params"], 25'557'032);
  EXPECT_EQ(json[11]["macs"], 4'089'184'256);
  // Two layers of 4 x 650 x (650 + 650) products each and the decoder; embedding and biases too.
  EXPECT_EQ(json[12]["model"], "lstm_lm");
  EXPECT_EQ(json[12]["macs"], 2 * 4 * 650 * 1300 + 650 * 10'000);
  EXPECT_EQ(json[12]["params"], 2 * 4 * (650 * 1300 + 2 * 650) + 2 * 650 * 10'000 + 10'000);
  const Outcome outcome = run_program("models");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr("cifar_mobilenet_v2"));
  EXPECT_THAT(outcome.text, HasSubstr("2296922"));
}

}  // namespace
}  // namespace bitcycle
