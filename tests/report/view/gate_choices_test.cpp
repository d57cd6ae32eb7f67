#include "report/view/gate_choices.h"

#include "report/view/made_up_run.h"
#include "report/view/run_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of cifar_resnet8, which has three blocks, with two options.
class GatedRun : public MadeUpRun {
 public:
  GatedRun() {
    write("recipe.toml",
          "steps = 100\nlog_every = 10\n[model]\nname = \"cifar_resnet8\"\n[data]\ndataset = "
          "\"fashion_mnist\"\n[precision.dynamic]\noptions = [[0, 0], [4, 6]]\nweight = 4\ntarget "
          "= 3.0\n");
  }

  void log_choices(int step, const std::string& choices) {
    log(R"({"type":"step","step":)" + std::to_string(step) +
        R"(,"epoch":1,"loss":2,"weight_bits":4,"activation_bits":3,"error_bits":5,"choices":)" +
        choices + "}");
  }

  Json choices(const ViewOptions& options = {}) const {
    return run_view(path(), "run", options)["precision"]["choices"];
  }
};

TEST(GateChoicesTest, CurvesAreMeansOverBlocks) {
  GatedRun run;
  run.log_choices(10, "[[1,0],[0.5,0.5],[0,1]]");
  run.log_choices(20, "[[0.25,0.75],[0.25,0.75],[0.25,0.75]]");
  const Json choices = run.choices();
  EXPECT_EQ(choices["options"].dump(), R"(["skip","[4, 6]"])");
  EXPECT_EQ(choices["curves"].dump(),
            R"([{"x":[10,20],"y":[0.5,0.25]},{"x":[10,20],"y":[0.5,0.75]}])");
}

TEST(GateChoicesTest, OfTheLastTenthOfTheLoggedStepsEachBlockIsShown) {
  GatedRun run;
  for (int i = 1; i <= 18; ++i) run.log_choices(i * 5, "[[1,0],[1,0],[1,0]]");
  run.log_choices(95, "[[0,1],[0.5,0.5],[1,0]]");
  run.log_choices(100, "[[0.5,0.5],[0.5,0.5],[1,0]]");
  const Json blocks = run.choices()["blocks"];
  EXPECT_EQ(blocks["names"].dump(), R"(["1, layer1.0","2, layer2.0","3, layer3.0"])");
  EXPECT_EQ(blocks["shares"].dump(), "[[0.25,0.75],[0.5,0.5],[1,0]]");
  EXPECT_EQ(blocks["from"], 91);
  EXPECT_EQ(blocks["to"], 100);
}

// 10 steps at 1 and 30 at 0: a quarter.
TEST(GateChoicesTest, StretchesWeighEveryStepAlike) {
  GatedRun run;
  run.log_choices(10, "[[1,0],[1,0],[1,0]]");
  run.log_choices(40, "[[0,1],[0,1],[0,1]]");
  const Json curves = run.choices({.columns = 1})["curves"];
  EXPECT_EQ(curves.dump(), R"([{"x":[40],"y":[0.25]},{"x":[40],"y":[0.75]}])");
}

TEST(GateChoicesTest, WhatIsNoListOfSharesIsLeftOutWithANotice) {
  GatedRun run;
  run.log_choices(10, "[[1,0],[1,0],[1,0]]");
  run.log_choices(20, "[[\"all\",0],[1,0],[1,0]]");
  run.log_choices(30, "[[1,0],[1,0]]");
  run.log_choices(40, "[[0,1],[0,1],[0,1]]");
  const Json view = run_view(run.path(), "run");
  EXPECT_EQ(view["precision"]["choices"]["curves"][1].dump(), R"({"x":[10,40],"y":[0,1]})");
  EXPECT_THAT(view["notices"].dump(), HasSubstr("line 3 of metrics.jsonl is no list of shares"));
}

TEST(GateChoicesTest, BitsOfLoggedStepsSpeakForThoseBetween) {
  GatedRun gated;
  gated.log_choices(10, "[[1,0],[1,0],[1,0]]");
  EXPECT_EQ(run_view(gated.path(), "run")["precision"]["logged"], true);
  const MadeUpRun scheduled;
  EXPECT_EQ(run_view(scheduled.path(), "run")["precision"]["logged"], false);
}

// The log says 3 and 5.
TEST(GateChoicesTest, BitsInCommonAreMeansOfWhatWasChosen) {
  GatedRun run;
  run.log_choices(10, "[[1,0],[1,0],[1,0]]");
  run.log_choices(20, "[[0,1],[0.5,0.5],[1,0]]");
  const Json precision = run_view(run.path(), "run")["precision"];
  EXPECT_EQ(precision["bits"]["activation"]["y"].front(), 0);
  EXPECT_EQ(precision["bits"]["activation"]["y"].back(), 2);
  EXPECT_EQ(precision["bits"]["error"]["y"].back(), 3);
  EXPECT_TRUE(precision["shares"].is_null());
}

TEST(GateChoicesTest, ARunWithoutGatesHasNone) {
  const MadeUpRun run;
  EXPECT_TRUE(run_view(run.path(), "run")["precision"]["choices"].is_null());
}

TEST(GateChoicesTest, AGatedRunThatWasTimedButLoggedNothingIsShown) {
  GatedRun run;
  run.write("timing.jsonl", "{\"step\":10,\"seconds\":1}\n");
  const Json view = run_view(run.path(), "run");
  EXPECT_THAT(view["notices"], IsEmpty());
  EXPECT_TRUE(view["precision"]["choices"].is_null());
}

}  // namespace
}  // namespace bitcycle
