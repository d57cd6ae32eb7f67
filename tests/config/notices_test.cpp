#include "bitcycle/config/notices.h"

#include "config/recipe_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NoticesTest, AnOddNumberOfTriangularCyclesIsToldNotRefused) {
  const auto with = [](const std::string& precision) {
    return notices(parsed("steps = 90\n[precision]\n" + precision), {90, 10});
  };
  const std::string odd = "{ schedule = \"CT\", min = 3, max = 8, cycles = 3 }";
  EXPECT_THAT(with("forward = " + odd),
              ElementsAre("precision.forward: an odd number of CT cycles (3) ends the run at 3 "
                          "bits; an even number ends it at 8"));
  EXPECT_THAT(with("override = [{ layers = \"conv1\", weight = " + odd + " }]"),
              ElementsAre(HasSubstr("precision.override of conv1: weight: an odd number")));
  EXPECT_THAT(with("forward = { schedule = \"CT\", min = 3, max = 8, cycles = 4 }"), IsEmpty());
  EXPECT_THAT(with("forward = { schedule = \"CR\", min = 3, max = 8, cycles = 3 }"), IsEmpty());
}

TEST(NoticesTest, ExpressionsAndShortRunsAreToldByTheirKey) {
  const auto with = [](const std::string& precision) {
    return notices(parsed("epochs = 9\n[precision]\n" + precision), {90, 10});
  };
  EXPECT_THAT(with("forward = \"8 until 0.5, LT 3:8 x3\""),
              ElementsAre(HasSubstr("precision.forward: an odd number of LT cycles (3)")));
  EXPECT_THAT(with("backward = \"CR 3:8 x90\""),
              ElementsAre(HasSubstr("precision.backward: 90 cycles of CR in 90 steps")));
  EXPECT_THAT(with("forward = \"CR 3:8 x3\"\nper = \"epoch\""),
              ElementsAre(HasSubstr("precision.forward: CR does not reach its upper bound of 8 "
                                    "bits in 9 epochs, only 7")));
  EXPECT_THAT(with("forward = \"CR 3:8 x3\""), IsEmpty());
}

}  // namespace
}  // namespace bitcycle
