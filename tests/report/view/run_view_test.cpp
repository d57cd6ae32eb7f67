#include "report/view/run_view.h"

#include "bitcycle/base/error.h"
#include "bitcycle/schedule/spec.h"

#include "landscape/made_up_landscape.h"
#include "report/view/comparison.h"
#include "report/view/made_up_run.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The schedule of MadeUpRun, from its own definition.
int bits_of(int step, int steps = 100) {
  static const ScheduleSpec spec{.name = "CR", .min = 3, .max = 8, .cycles = 2};
  return make_schedule(spec, steps).bits(step - 1);
}

Json view_of(const MadeUpRun& run, const ViewOptions& options = {}) {
  return run_view(run.path(), "run", options);
}

std::vector<std::string> notices_of(const Json& view) {
  return view["notices"].get<std::vector<std::string>>();
}

TEST(RunViewTest, CurvesHaveTheLoggedNumbers) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10), 3, 4);
  run.log_step(20, 1.5, bits_of(20), 5, 8);
  const Json view = view_of(run);
  EXPECT_THAT(notices_of(view), IsEmpty());
  EXPECT_EQ(view["training"]["loss"].dump(), R"({"x":[10,20],"y":[2.5,1.5]})");
  EXPECT_EQ(view["learning_rate"]["y"].dump(), "[0.1,0.1]");
  EXPECT_EQ(view["cost"]["spent"]["y"].dump(), "[3,5]");
  EXPECT_EQ(view["cost"]["static"]["y"].dump(), "[4,8]");
  EXPECT_EQ(view["overview"]["saving_percent"], 37.5);
  EXPECT_EQ(view["overview"]["steps_done"], 20);
  EXPECT_EQ(view["overview"]["steps_total"], 100);
  EXPECT_EQ(view["overview"]["state"], "stopped");
}

// 32 bits against 8 in every product: (32 * 32) / (8 * 8).
TEST(RunViewTest, FloatCostsSixteenTimesStaticAt8Bits) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10), 3, 4);
  EXPECT_EQ(view_of(run)["cost"]["float"]["y"].dump(), "[64]");
}

TEST(RunViewTest, BitsBetweenLoggedStepsComeFromTheSchedule) {
  MadeUpRun run;
  run.log_step(100, 1, bits_of(100));
  const Json bits = view_of(run)["precision"]["bits"]["weight"];
  std::size_t change = 0;
  for (int step = 1; step <= 100; ++step) {
    if (change + 1 < bits["x"].size() && bits["x"][change + 1] == step) ++change;
    EXPECT_EQ(bits["y"][change], bits_of(step)) << "at step " << step;
  }
}

TEST(RunViewTest, TheHeatMapHasMeansOfEachStretch) {
  MadeUpRun run;
  run.log_step(100, 1, bits_of(100));
  const Json heat = view_of(run, {.columns = 10})["precision"]["heat"];
  const Json& weights = heat["roles"]["weight"];
  EXPECT_EQ(heat["edges"].size(), 11U);
  EXPECT_EQ(weights["row_of_layer"].size(), heat["layers"].size());
  double sum = 0;
  for (int step = 1; step <= 10; ++step) sum += bits_of(step);
  const auto layer = std::ranges::find(heat["layers"], "layer1.0.conv1") - heat["layers"].begin();
  const Json& row = weights["rows"][weights["row_of_layer"][layer].get<std::size_t>()];
  EXPECT_NEAR(row[0].get<double>(), sum / 10, 1e-3);
}

TEST(RunViewTest, ALogThatContradictsTheRecipeCounts) {
  MadeUpRun run;
  run.log_step(10, 1, 7);
  run.log_step(20, 1, 6);
  const Json view = view_of(run);
  EXPECT_EQ(view["precision"]["bits"]["weight"].dump(), R"({"x":[1,11,20],"y":[7,6,6]})");
  EXPECT_THAT(notices_of(view), ElementsAre(HasSubstr("changed under way")));
}

TEST(RunViewTest, HalfALastLineIsNoDamage) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10));
  run.write("metrics.jsonl", "{\"type\":\"step\",\"step\":10,\"loss\":2.5}\n{\"type\":\"st");
  const Json view = view_of(run);
  EXPECT_EQ(view["overview"]["steps_done"], 10);
  for (const std::string& notice : notices_of(view)) EXPECT_THAT(notice, HasSubstr("bits"));
}

TEST(RunViewTest, DamagedLinesAreCountedAndTheRestStands) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10));
  run.log("{\"type\":\"step\",\"st");
  run.log("[1, 2]");
  run.log_step(20, 1.5, bits_of(20));
  const Json view = view_of(run);
  EXPECT_EQ(view["training"]["loss"]["y"].dump(), "[2.5,1.5]");
  EXPECT_THAT(notices_of(view),
              ElementsAre("2 lines of metrics.jsonl cannot be read, line 3 first."));
}

TEST(RunViewTest, FilesOfOtherKindsLeaveNotices) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10));
  run.write("recipe.toml", "steps = \"many\"");
  run.write("summary.json", "[]");
  run.write("evaluations.json", "{\"evaluations\": 3}");
  run.write("layers.jsonl", "{\"step\":10,\"layers\":[1]}\n{\"step\":20,\"layers\":{\"a\":7}}\n");
  run.write("timing.jsonl", "{\"step\":10,\"by_bits\":{\"a\":1}}\nnothing\n");
  const Json view = view_of(run);
  EXPECT_EQ(view["training"]["loss"]["y"].dump(), "[2.5]");
  EXPECT_THAT(
      notices_of(view),
      ElementsAre(HasSubstr("The recipe cannot be read"), "Line 2 of timing.jsonl cannot be read.",
                  "\"by_bits\" in line 1 of timing.jsonl is no list, and left out.",
                  "\"a\" in line 2 of layers.jsonl is no table, and left out.",
                  "\"layers\" in line 1 of layers.jsonl is no table, and left out.",
                  "summary.json cannot be read.",
                  "evaluations.json is damaged: some of its entries are none."));
}

TEST(RunViewTest, ASummaryWithoutAScoreIsToldAsDamaged) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10));
  run.write("timing.jsonl", "{\"step\":10}\n");
  run.write("summary.json", "{}");
  EXPECT_THAT(notices_of(view_of(run)), ElementsAre(HasSubstr("summary.json has no test score")));
  run.write("summary.json", "{\"test_of_best\": {\"accuracy\": 80}}");
  EXPECT_THAT(notices_of(view_of(run)), testing::IsEmpty());
}

TEST(RunViewTest, StepsThatNoRunCanHaveArePassedOver) {
  MadeUpRun run;
  run.log_step(10, 2, 3);
  for (const char* step : {"1e300", "-1e300", "-5", "0", "null", "\"x\"", "[3]"}) {
    run.log(std::string(R"({"type":"step","loss":1,"step":)") + step + "}");
  }
  const Json view = view_of(run);
  EXPECT_EQ(view["training"]["loss"]["x"].dump(), "[10]");
  EXPECT_EQ(view["overview"]["steps_done"], 10);
}

TEST(RunViewTest, ADirectoryThatIsGoneSaysSo) {
  const Json view = run_view("/nonexistent/run", "run");
  EXPECT_THAT(notices_of(view), ElementsAre(HasSubstr("not there")));
  EXPECT_EQ(view["overview"]["state"], "gone");
}

TEST(RunViewTest, NumbersThatAreNotFiniteAreGaps) {
  MadeUpRun run;
  run.log(R"({"type":"step","step":10,"loss":null})");
  EXPECT_EQ(view_of(run)["training"]["loss"].dump(), R"({"x":[10],"y":[null]})");
}

TEST(RunViewTest, RepeatedStepsCountOnceAsTheyWereLast) {
  MadeUpRun run;
  run.write("timing.jsonl",
            "{\"step\":10,\"seconds\":1}\n{\"step\":20,\"seconds\":1}\n{\"step\":20,\"seconds\":3}"
            "\n");
  const Json view = view_of(run);
  EXPECT_EQ(view["overview"]["seconds"], 4);
  EXPECT_EQ(view["time"]["per_step"].dump(), R"({"x":[10,20],"y":[0.1,0.3]})");
}

// Times go up to the step at which a run was stopped, logged metrics may end before it.
TEST(RunViewTest, StepsAreDoneThatWereTimedSinceTheLastLoggedOne) {
  MadeUpRun run;
  run.log_step(10, 2.5, bits_of(10));
  run.write("timing.jsonl", "{\"step\":10,\"seconds\":1}\n{\"step\":17,\"seconds\":1}\n");
  const Json overview = view_of(run)["overview"];
  EXPECT_EQ(overview["steps_done"], 17);
  EXPECT_EQ(overview["epoch"], 1.7) << "ten steps are an epoch";
  EXPECT_EQ(overview["cost_step"], 10);
}

TEST(RunViewTest, AMachineIsToldWhereItsLineIsWhole) {
  MadeUpRun run;
  const std::string whole = R"({"processor":"p","threads":2,"isa":"avx2"})";
  run.write("timing.jsonl", R"({"step":1,"seconds":1,"machine":)" + whole + "}\n" +
                                R"({"step":2,"seconds":1,"machine":{"processor":{}}})" + "\n");
  EXPECT_EQ(view_of(run)["overview"]["machine"].dump(), whole);
}

TEST(RunViewTest, TimesOfBitsAddUpOverLines) {
  MadeUpRun run;
  run.write("timing.jsonl",
            R"({"step":10,"seconds":5,"by_bits":[{"bits":"3/8","steps":8,"seconds":2},)"
            R"({"bits":"8/8","steps":2,"seconds":3}],"machine":{"processor":"P","threads":2}})"
            "\n"
            R"({"step":20,"seconds":4,"by_bits":[{"bits":"3/8","steps":10,"seconds":4}]})"
            "\n");
  const Json view = view_of(run);
  EXPECT_EQ(view["time"]["by_bits"].dump(),
            R"([{"bits":"3/8","steps":18,"seconds_per_step":0.3333333},)"
            R"({"bits":"8/8","steps":2,"seconds_per_step":1.5}])");
  EXPECT_EQ(view["overview"]["machine"]["processor"], "P");
}

TEST(RunViewTest, ARunIsRunningWhileItsProcessLives) {
  MadeUpRun run;
  run.write(".lock", std::to_string(::getpid()) + "\n");
  EXPECT_EQ(view_of(run)["overview"]["state"], "running");
  run.write(".lock", "");
  EXPECT_EQ(view_of(run)["overview"]["state"], "stopped");
}

TEST(RunViewTest, LayersHaveTheirRangesAndErrors) {
  MadeUpRun run;
  run.write("layers.jsonl",
            R"({"step":10,"layers":{"a":{"weight":{"bits":3,"low":-1,"high":2,"sqnr_db":12.5}}}})"
            "\n");
  const Json layer = view_of(run)["layers"]["a"]["weight"];
  EXPECT_EQ(layer["low"].dump(), R"({"x":[10],"y":[-1]})");
  EXPECT_EQ(layer["sqnr_db"].dump(), R"({"x":[10],"y":[12.5]})");
}

TEST(RunViewTest, ALongRunStaysSmall) {
  MadeUpRun run(64'000);
  std::string text;
  for (int step = 1; step <= 64'000; ++step) {
    text += R"({"type":"step","step":)" + std::to_string(step) + R"(,"loss":)" +
            std::to_string(1 + 0.1 * (step % 97)) + R"(,"accuracy":)" +
            std::to_string(step % 89 + 0.123) + R"(,"lr":0.1})" + "\n";
  }
  run.write("metrics.jsonl", text);
  const Json view = view_of(run);
  EXPECT_LE(view["training"]["loss"]["x"].size(), ViewOptions().points);
  EXPECT_LT(view.dump().size(), 400'000U);
}

TEST(RunViewTest, LandscapesHaveContoursAreaAndLosses) {
  const MadeUpRun run;
  std::filesystem::create_directories(run.path() / kLandscapeFolder);
  Landscape landscape = made_up_landscape(51);  // loss r^2 / 3
  landscape.subject.settings.grid.range = 2;    // so that r goes to 2 sqrt(2)
  for (auto& point : landscape.points) point[1] *= 4;
  store_landscape(run.path(), landscape);
  const Json views = view_of(run)["landscapes"];
  ASSERT_EQ(views.size(), 1U);
  const Json& view = views[0];
  EXPECT_EQ(view["settings"], "bits8-grid51-range2-samples64-seed123");
  EXPECT_EQ(view["centre"], 0);
  EXPECT_NEAR(view["area"].get<double>(), 3 * 0.5 * std::acos(-1.), 0.01);  // r^2 < 1.5
  EXPECT_EQ(view["loss"]["rows"].size(), 51U);
  EXPECT_TRUE(view["loss"]["rows"][0][0].is_null()) << "a value that is not finite";
  for (const Json& contour : view["contours"]) {
    if (contour["level"].get<double>() > 2.5) continue;  // beside the value that is not finite
    for (const Json& line : contour["lines"]) {
      for (std::size_t i = 0; i < line.size(); i += 2) {
        const double x = line[i], y = line[i + 1];
        EXPECT_NEAR((x * x + y * y) / 3, contour["level"].get<double>(), 0.01);
      }
    }
  }
  EXPECT_LT(view.dump().size(), 40'000U);
}

TEST(RunViewTest, ADamagedLandscapeLeavesANotice) {
  MadeUpRun run;
  std::filesystem::create_directories(run.path() / kLandscapeFolder);
  store_landscape(run.path(), made_up_landscape(5));
  run.write("landscape/broken.json", "{\"format\": 1,");
  const Json view = view_of(run);
  EXPECT_EQ(view["landscapes"].size(), 1U);
  EXPECT_THAT(view["notices"].dump(), HasSubstr("landscape/broken.json cannot be read."));
}

Json finished(const std::string& group, double score, double gbitops) {
  return {{"name", group},
          {"group", group},
          {"overview",
           {{"state", "finished"},
            {"precision", group},
            {"model", "m"},
            {"dataset", "d"},
            {"metric", {{"name", "accuracy"}, {"better", "higher"}}},
            {"test", {{"value", score}}},
            {"gbitops", gbitops}}}};
}

TEST(ComparisonTest, RunsOfOneRecipeAreAGroupWithSpread) {
  const Json compared = comparison(Json::array({finished("a", 80, 10), finished("b", 90, 20),
                                                finished("a", 84, 10), finished("a", 82, 10)}));
  const Json& groups = compared["groups"];
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0]["runs"].dump(), "[0,2,3]");
  EXPECT_EQ(groups[0]["mean"], 82);
  EXPECT_EQ(groups[0]["deviation"], 2);  // of 80, 82, 84
  EXPECT_EQ(groups[0]["box"].dump(), "[80,81,82,83,84]");
  EXPECT_TRUE(groups[1]["deviation"].is_null()) << "one run has no spread";
}

// Half a run has cost half, and its best score so far is of the validation set.
TEST(ComparisonTest, OnlyFinishedRunsAreAveragedWhereThereAreAny) {
  Json going = finished("a", 20, 4);
  going["overview"]["state"] = "running";
  const Json compared =
      comparison(Json::array({finished("a", 80, 10), going, finished("a", 82, 10)}));
  const Json& group = compared["groups"][0];
  EXPECT_EQ(group["runs"].size(), 3U);
  EXPECT_EQ(group["counted"], 2);
  EXPECT_EQ(group["mean"], 81);
  EXPECT_EQ(group["gbitops"], 10);
  const Json unfinished = comparison(Json::array({going, going}))["groups"][0];
  EXPECT_EQ(unfinished["counted"], 2);
  EXPECT_EQ(unfinished["mean"], 20);
}

TEST(ComparisonTest, TheFrontIsWhatNobodyBeatsAtLessCost) {
  const Json compared =
      comparison(Json::array({finished("cheap", 80, 10), finished("beaten", 79, 15),
                              finished("dear", 90, 20), finished("dearer", 90, 30)}));
  std::vector<bool> front;
  for (const Json& group : compared["groups"]) front.push_back(group["front"]);
  EXPECT_THAT(front, ElementsAre(true, false, true, false));
}

TEST(ComparisonTest, WhatHasNotFinishedNeitherIsOnTheFrontNorPushesOthersOffIt) {
  Json going = finished("half", 95, 5);
  going["overview"]["state"] = "running";
  const Json groups = comparison(Json::array({going, finished("whole", 90, 10)}))["groups"];
  EXPECT_EQ(groups[0]["finished"], false);
  EXPECT_EQ(groups[0]["front"], false);
  EXPECT_EQ(groups[1]["finished"], true);
  EXPECT_EQ(groups[1]["front"], true);
}

Json of_words(const std::string& group, double score, double gbitops) {
  Json run = finished(group, score, gbitops);
  run["overview"]["metric"] = {{"name", "perplexity"}, {"better", "lower"}};
  return run;
}

TEST(ComparisonTest, TheFrontIsOfTheMetricOfMostRunsAndTheOthersAreNamed) {
  const Json compared =
      comparison(Json::array({of_words("words", 99, 1), finished("cheap", 80, 10),
                              finished("dear", 90, 20), finished("worse", 70, 15)}));
  EXPECT_EQ(compared["metric"]["name"], "accuracy");
  EXPECT_EQ(compared["apart"].dump(), "[0]");
  std::vector<bool> front;
  for (const Json& group : compared["groups"]) front.push_back(group["front"]);
  EXPECT_THAT(front, ElementsAre(false, true, true, false)) << "99 at cost 1 is no accuracy";
}

TEST(ComparisonTest, NoMetricIsSharedWhereNoTwoRunsHaveTheSame) {
  const Json compared = comparison(Json::array({of_words("words", 9, 1), finished("a", 80, 10)}));
  EXPECT_TRUE(compared["metric"].is_null());
  EXPECT_EQ(compared["apart"].dump(), "[0,1]");
  EXPECT_EQ(compared["groups"][1]["front"], false);
}

TEST(ComparisonTest, ARunWithoutAMetricKeepsNobodyFromTheFront) {
  Json gone = {{"name", "gone"}, {"group", ""}, {"overview", {{"state", "gone"}}}};
  const Json compared =
      comparison(Json::array({gone, finished("a", 80, 10), finished("b", 90, 20)}));
  EXPECT_EQ(compared["metric"]["name"], "accuracy");
  EXPECT_TRUE(compared["apart"].empty()) << "it has no score to leave out";
  EXPECT_EQ(compared["groups"][2]["front"], true);
}

TEST(ComparisonTest, GroupsOfOnePrecisionAreCalledByWhatTheirRunsHaveInCommon) {
  Json runs = Json::array();
  for (const char* name : {"sweep/cpt,seed=1", "sweep/cpt,seed=2", "sweep/late,seed=1", "alone"}) {
    Json run = finished("CR 3-8/8", 80, 10);
    run["name"] = name;
    run["group"] = std::string(name).substr(0, 8);
    runs.push_back(run);
  }
  std::vector<std::string> labels;
  const Json compared = comparison(runs);
  for (const Json& group : compared["groups"]) labels.push_back(group["label"]);
  EXPECT_THAT(labels,
              ElementsAre("CR 3-8/8, sweep/cpt", "CR 3-8/8, sweep/late,seed=1", "CR 3-8/8, alone"));
}

Json cell(const std::string& group, std::int64_t seed, double score, double gbitops) {
  Json run = finished("CR 3-8/8", score, gbitops);
  run["group"] = "what " + group + " computes";
  run["sweep"] = {{"name", "sweep"}, {"group", group}, {"baseline", "static"}};
  run["overview"]["seed"] = seed;
  return run;
}

// Scores of the same seeds differ by 3 and 1: 2 on average, with a standard error of sqrt(2 / 2).
TEST(ComparisonTest, RunsOfASweepHaveItsNamesAndItsBaseline) {
  const Json groups =
      comparison(Json::array({cell("cpt", 1, 83, 15), cell("cpt", 2, 91, 15),
                              cell("static", 2, 90, 20), cell("static", 1, 80, 20)}))["groups"];
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0]["label"], "cpt");
  EXPECT_EQ(groups[0]["baseline"], 1);
  EXPECT_EQ(groups[0]["saving_baseline_percent"], 25);
  EXPECT_EQ(groups[0]["difference"].dump(), R"({"value":2,"error":1,"pairing":"same seeds"})");
  EXPECT_EQ(groups[1]["label"], "static");
  EXPECT_FALSE(groups[1].contains("baseline")) << "it is the baseline";
}

TEST(ComparisonTest, RunsThatGoOnAreHeldAgainstNothing) {
  Json going = cell("cpt", 1, 83, 15);
  going["overview"]["state"] = "running";
  const Json groups = comparison(Json::array({going, cell("static", 1, 80, 20)}))["groups"];
  EXPECT_FALSE(groups[0].contains("difference"));
  EXPECT_FALSE(groups[0].contains("saving_baseline_percent"));
}

TEST(ComparisonTest, CellsOfSeveralSweepsAreToldApart) {
  Json other = cell("cpt", 1, 80, 10);
  other["sweep"]["name"] = "again";
  std::vector<std::string> labels;
  const Json compared = comparison(Json::array({cell("cpt", 1, 80, 10), other}));
  for (const Json& group : compared["groups"]) labels.push_back(group["label"]);
  EXPECT_THAT(labels, ElementsAre("sweep/cpt", "again/cpt"));
}

TEST(RunViewTest, ACellOfASweepHasThePlaceThatTheSweepGivesIt) {
  TemporaryDirectory sweep;
  const auto directory = sweep / "late,seed=1";
  std::filesystem::create_directories(directory);
  write_file(directory / "recipe.toml", "steps = 10\n");
  const auto place = [&] { return run_view(directory, "run", {.sweeps = true})["sweep"]; };
  EXPECT_TRUE(place().is_null()) << "there is no sweep";
  write_file(sweep / "sweep.json",
             R"({"sweep":"s","cells":[{"cell":"cpt,seed=1","group":"cpt","baseline":"late"},)"
             R"({"cell":"late,seed=1","group":"late","baseline":"late"}]})");
  EXPECT_EQ(place()["group"], "late");
  EXPECT_EQ(place()["baseline"], "late");
  EXPECT_EQ(place()["name"], sweep.path().filename().string());
  write_file(sweep / "sweep.json", "{");
  const Json view = run_view(directory, "run", {.sweeps = true});
  EXPECT_TRUE(view["sweep"].is_null());
  EXPECT_THAT(view["notices"].dump(), HasSubstr("sweep.json cannot be read."));
}

TEST(ComparisonTest, OneRunIsComparedWithNothing) {
  EXPECT_TRUE(comparison(Json::array({finished("a", 80, 10)})).is_null());
}

}  // namespace
}  // namespace bitcycle
