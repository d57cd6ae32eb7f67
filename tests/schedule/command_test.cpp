// `bitcycle schedule` as a user meets it: what it prints, where, and its exit status.

#include "bitcycle/schedule/spec.h"

#include "cli/run_program.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Outcome run(const std::string& arguments) {
  return run_program("schedule " + arguments + " 2>&1", "LC_ALL=C.UTF-8");
}

TEST(ScheduleCommandTest, PrintsATableWithAPlot) {
  const Outcome out = run("CR --min 3 --max 8 --cycles 8 --steps 64");
  EXPECT_EQ(out.status, 0);
  EXPECT_THAT(out.text, HasSubstr("8 ┤       ╭╮      ╭╮"));
  EXPECT_THAT(out.text, HasSubstr("   3           0     16         25.0 %"));
  EXPECT_THAT(out.text, HasSubstr("mean 5.25 bits, last step 8; cost 0.5964 of static 8/8"));
}

TEST(ScheduleCommandTest, ANameAloneIsEnough) {
  for (const std::string& name : schedule_names()) EXPECT_EQ(run(name).status, 0) << name;
}

TEST(ScheduleCommandTest, GradientBitsThatMoveStateTheirRange) {
  const Outcome out = run("CR --grad-bits CR");
  EXPECT_EQ(out.status, 2);
  EXPECT_THAT(out.text, HasSubstr("schedule CR: expected a range of bits to move in, found none"));
  EXPECT_EQ(run("static --grad-bits 'CR 6:8'").status, 0);
}

TEST(ScheduleCommandTest, WhatMayNotBeMeantIsToldOnStandardError) {
  const std::string short_run = "LT --cycles 3 --steps 12 --steps-per-epoch 3 --json";
  EXPECT_THAT(run(short_run).text,
              StartsWith("note: an odd number of LT cycles (3) ends the run at 3 bits"));
  EXPECT_EQ(run_program("schedule " + short_run + " 2>/dev/null").text.front(), '{');
  EXPECT_THAT(run("CR --cycles 3 --steps 12 --steps-per-epoch 3").text,
              HasSubstr("CR does not reach its upper bound of 8 bits in 4 epochs"));
  EXPECT_THAT(run("8 --grad-bits 'CR 6:8 x9' --steps 9").text,
              StartsWith("note: --grad-bits: 9 cycles of CR in 9 steps"));
}

TEST(ScheduleCommandTest, WithoutANameComparesThemAll) {
  const Outcome out = run("--min 4 --max 6 --steps 64000");
  EXPECT_EQ(out.status, 0);
  for (const std::string& name : schedule_names()) EXPECT_THAT(out.text, HasSubstr(name + " "));
  EXPECT_THAT(out.text, HasSubstr("static           6.000  1.0000"));
  EXPECT_THAT(out.text, HasSubstr("0.6443"));  // RR
  EXPECT_EQ(nlohmann::json::parse(run("--json").text).size(), schedule_names().size());
}

TEST(ScheduleCommandTest, CsvReadsBackToTheSameValues) {
  for (const char* name : {"CR", "RTH"}) {
    std::istringstream lines(run(std::string(name) + " --steps 64 --csv").text);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "t,value,bits");
    const Schedule schedule = make_schedule({.name = name, .min = 3, .max = 8}, 64);
    Step t = 0;
    for (; std::getline(lines, line); ++t) {
      long step = 0;
      double value = 0;
      int bits = 0;
      ASSERT_EQ(std::sscanf(line.c_str(), "%ld,%lf,%d", &step, &value, &bits), 3);
      EXPECT_EQ(step, t);
      EXPECT_EQ(value, schedule.value(t));
      EXPECT_EQ(bits, schedule.bits(t));
    }
    EXPECT_EQ(t, 64);
  }
}

TEST(ScheduleCommandTest, JsonHasRowsMeanBitsAndRelativeCost) {
  const auto json = nlohmann::json::parse(run("CR --steps 64 --json").text);
  EXPECT_EQ(json["rows"].size(), 64U);
  EXPECT_EQ(json["rows"][4]["t"], 4);
  EXPECT_EQ(json["rows"][4]["value"], 5.5);
  EXPECT_EQ(json["rows"][4]["bits"], 6);
  EXPECT_EQ(json["mean_bits"], 5.25);
  EXPECT_NEAR(json["relative_cost"], 0.5964, 5e-5);
}

TEST(ScheduleCommandTest, GradientsHaveAScheduleOfTheirOwn) {
  const auto json =
      nlohmann::json::parse(run("static --max 6 --steps 64 --grad-bits 'LT 6:8 x4' --json").text);
  EXPECT_EQ(json["max_grad_bits"], 8);
  EXPECT_EQ(json["rows"][0]["grad_bits"], 8);
  EXPECT_EQ(json["rows"][16]["grad_bits"], 6);
  const double g = json["mean_grad_bits"];
  EXPECT_NEAR(json["relative_cost"], (36 + 12 * g) / (36 + 12 * 8), 1e-12);
}

TEST(ScheduleCommandTest, AdvancesPerEpochIfAsked) {
  const Outcome out =
      run_program("schedule LR --min 4 --cycles 1 --steps 8 --steps-per-epoch 2 --csv 2>/dev/null");
  EXPECT_EQ(out.text, "t,value,bits\n0,4,4\n1,4,4\n2,5,5\n3,5,5\n4,6,6\n5,6,6\n6,7,7\n7,7,7\n");
}

TEST(ScheduleCommandTest, WritesAPicture) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("bitcycle-schedule-" + std::to_string(getpid()) + ".svg");
  EXPECT_EQ(run("RTH --svg " + file.string()).status, 0);
  std::ifstream stream(file);
  std::string first;
  std::getline(stream, first);
  EXPECT_THAT(first, StartsWith("<svg"));
  std::filesystem::remove(file);
}

TEST(ScheduleCommandTest, MistakesExitWithTwoAndSayWhatToDo) {
  const auto mistake = [](const std::string& arguments, const std::string& expected) {
    const Outcome out = run(arguments);
    EXPECT_EQ(out.status, 2) << arguments;
    EXPECT_THAT(out.text, HasSubstr(expected)) << arguments;
  };
  mistake("--csv", "expected the NAME of a schedule");
  mistake("ETC", "Did you mean \"ETV\"?");
  mistake("CR --min 8 --max 3", "found 8 and 3");
  mistake("CR --max 33", "1 to 32 bits, found 33");
  mistake("CR --cycles 0", "cycles must be at least 1");
  mistake("CR --steps 0", "--steps must be at least 1");
  mistake("CR --steps -4", "--steps must be at least 1");
  mistake("CR --steps many", "--steps");
  mistake("CR --steps-per-epoch 0", "at least one step");
  mistake("CR --cycle-length flor", "Did you mean \"floor\"?");
  mistake("CR --steps 4 --cycle-length floor", "do not fit");
  mistake("RR --beta 1", "beta");
  mistake("ER --rate -1", "rate");
  mistake("CR --grad-bits six", "unknown schedule \"six\"");
  mistake("CR --grad-bits 99", "found 99");
  mistake("CR --csv --json", "at most 1");
  mistake("CR --start 0.5 --end 0.2", "start");
}

TEST(ScheduleCommandTest, OfGatesSaysBetweenWhatTheyChoose) {
  const std::string recipe = BITCYCLE_SOURCE_DIR "/recipes/fractrain/cifar100-resnet74-dfq.toml";
  const Outcome text = run(recipe);
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.text, HasSubstr("4-bit weights; [activation, error] bits: [3, 6], [4, 6]"));
  EXPECT_THAT(text.text, HasSubstr("cp 3 %"));
  const nlohmann::json json = nlohmann::json::parse(run(recipe + " --json").text);
  EXPECT_EQ(json["policy"], "dynamic");
  EXPECT_EQ(json["options"][4]["error_bits"], 12);
  EXPECT_EQ(json["stages"][0]["cp_percent"], 3);
  const Outcome curve = run(recipe + " --csv");
  EXPECT_EQ(curve.status, 2);
  EXPECT_THAT(curve.text, HasSubstr("has bits that gates choose"));
}

TEST(ScheduleCommandTest, APlaceThatCannotBeWrittenIsNamed) {
  const Outcome out = run("CR --svg /nonexistent/x.svg");
  EXPECT_EQ(out.status, 4);
  EXPECT_THAT(out.text, HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace bitcycle
