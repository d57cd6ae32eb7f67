#include "report/view/line_check.h"

#include "report/view/made_up_run.h"
#include "report/view/run_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> notices_of(const MadeUpRun& run) {
  return run_view(run.path(), "run")["notices"].get<std::vector<std::string>>();
}

TEST(LineCheckTest, AValueOfAnotherKindIsAGapWithANotice) {
  MadeUpRun run;
  run.log(R"({"type":"step","step":10,"loss":2.5,"accuracy":10})");
  run.log(R"({"type":"step","step":20,"loss":"low","accuracy":20})");
  run.log(R"({"type":"step","step":30,"loss":[1],"accuracy":{}})");
  const Json view = run_view(run.path(), "run");
  EXPECT_EQ(view["training"]["loss"].dump(), R"({"x":[10,20,30],"y":[2.5,null,null]})");
  EXPECT_EQ(view["training"]["accuracy"].dump(), R"({"x":[10,20,30],"y":[10,20,null]})");
  EXPECT_THAT(notices_of(run),
              ElementsAre("\"accuracy\" in line 4 of metrics.jsonl is no number, and left out.",
                          "\"loss\" in 2 lines of metrics.jsonl, line 3 first, is no number, and "
                          "left out."));
}

TEST(LineCheckTest, WholeLinesAndNumbersThatAreNotFiniteAreAsTheyShouldBe) {
  MadeUpRun run;
  run.log(R"({"type":"step","step":10,"loss":null})");
  run.log(R"({"type":"evaluation","step":10,"split":"test","bits":"max","loss":1,"best":true})");
  run.log(R"({"type":"stage","step":10,"from":"3/6","to":"4/6","reason":"settled"})");
  run.log(R"({"type":"lost_best","step":10,"lost_step":5,"lost_loss":1,"best_step":0})");
  EXPECT_THAT(notices_of(run), IsEmpty());
}

TEST(LineCheckTest, LinesWithoutAStepAreTold) {
  MadeUpRun run;
  run.log(R"({"type":"step","step":"ten","loss":1})");
  run.log(R"({"type":"evaluation","split":"test","loss":1})");
  EXPECT_THAT(notices_of(run), ElementsAre("\"step\" in 2 lines of metrics.jsonl, line 2 first, is "
                                           "no number of a step, and left out."));
}

// What one line lacks, another tells: the last cost, and metrics that the last line does not have.
TEST(LineCheckTest, TheLastGoodValueStands) {
  MadeUpRun run;
  run.log_step(10, 2.5, 3, 3, 4);
  run.log(R"({"type":"step","step":20,"gbitops":"much","gbitops_static":8})");
  const Json view = run_view(run.path(), "run");
  EXPECT_EQ(view["overview"]["gbitops"], 3);
  EXPECT_EQ(view["training"]["loss"].dump(), R"({"x":[10],"y":[2.5]})");
}

TEST(LineCheckTest, BitsThatAreNoNumbersContradictNothing) {
  MadeUpRun run;
  run.log(R"({"type":"step","step":10,"weight_bits":"x","activation_bits":3,"error_bits":8})");
  EXPECT_THAT(notices_of(run), ElementsAre("\"weight_bits\" in line 2 of metrics.jsonl is no "
                                           "number, and left out."));
}

TEST(LineCheckTest, AFileThatIsDamagedThroughoutHasAFewNotices) {
  LineCheck check("metrics.jsonl");
  Json line = {{"step", 1}};
  for (int i = 0; i < 100; ++i) line["member " + std::to_string(i)] = "text";
  check.look_at(line, 1);
  ASSERT_EQ(check.notices().size(), 9U);
  EXPECT_EQ(check.notices().back(), "So it is with 92 more.");
}

}  // namespace
}  // namespace bitcycle
