// `bitcycle predict`, run as a process. The oracle is `bitcycle eval`: what it counts as right on a
// split is what predict answers rightly on the split's files.

#include "bitcycle/base/error.h"
#include "bitcycle/base/random.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/io/file.h"

#include "cli/run_program.h"
#include "data/pictures.h"
#include "io/io_testing.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kClasses[] = {"ape", "bee", "cow"};
constexpr int kDataStatus = 3, kUsageStatus = 2;

// Noise whose red rises a little from class to class, so that a network is right now and then.
test::Bytes drawn(int label, RandomKey key) {
  const int width = 14 + static_cast<int>(key.below(0, 12)), height = 20;
  std::vector<std::uint8_t> rows;
  for (int i = 0; i < width * height * 3; ++i) {
    const std::uint64_t noise = key.below(static_cast<std::uint64_t>(i) + 1, 180);
    rows.push_back(static_cast<std::uint8_t>(noise + (i % 3 == 0 ? 25U * label : 20U)));
  }
  return test::png({.width = width, .height = height}, rows);
}

void draw_split(const fs::path& split, int each, RandomKey key) {
  for (int label = 0; label < 3; ++label) {
    for (int i = 0; i < each; ++i) {
      const auto number = static_cast<std::uint64_t>(label * 100 + i);
      test::write(split / kClasses[label] / (std::to_string(i) + ".png"),
                  drawn(label, key.derive(number)));
    }
  }
}

constexpr const char* kCyclic =
    " --set 'precision.forward={schedule=\"CR\",min=3,max=8,cycles=2}' "
    "--set precision.backward=8 --set precision.backend=";
constexpr const char* kGates =
    " --set 'precision.dynamic={options=[[0,0],[3,6],[4,8]],weight=4,target=2.5}'";

// A folder of pictures, and a run on it that is executed in integers.
class PredictTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new TemporaryDirectory;
    draw_split(pictures() / "train", 16, RandomKey(1));
    draw_split(pictures() / "val", 10, RandomKey(2));
    draw_split(pictures() / "test", 11, RandomKey(3));
    test::write(at("own.toml"), std::string(R"(
epochs = 4
log_every = 1
threads = 1
[model]
name = "cifar_resnet8"
[data]
dataset = "image_folder"
root = "pictures"
image_size = 16
batch_size = 8
[optimizer]
lr = 0.02
)"));
    train("integer", kCyclic + std::string("integer"));
  }
  static void TearDownTestSuite() { delete place_; }

  static fs::path at(const std::string& name) { return *place_ / name; }
  static fs::path pictures() { return at("pictures"); }
  static Outcome run(const std::string& arguments, const std::string& environment = "") {
    return run_program(arguments, "cd " + place_->path().string() + " && " + environment);
  }
  static void train(const std::string& name, const std::string& settings) {
    const Outcome done = run("train own.toml -q --run-dir " + name + settings + " 2>&1");
    ASSERT_EQ(done.status, 0) << done.text;
  }
  static nlohmann::json answers(const std::string& arguments) {
    const Outcome found = run("predict " + arguments + " --json 2>/dev/null");
    return nlohmann::json::parse(found.text);
  }

  static TemporaryDirectory* place_;
};
TemporaryDirectory* PredictTest::place_ = nullptr;

// Answers of which the best class is the picture's directory.
int count_right(const nlohmann::json& answers) {
  int right = 0;
  for (const auto& picture : answers["pictures"]) {
    const fs::path file = picture["picture"].get<std::string>();
    right += picture["classes"][0]["name"] == file.parent_path().filename().string() ? 1 : 0;
  }
  return right;
}

struct Asking {
  const char* run;
  const char* split;
  const char* folder;
  const char* bits;
};

TEST_F(PredictTest, IsRightAsOftenAsEvalSays) {
  train("simulate", kCyclic + std::string("simulate"));
  train("gates", kGates);
  for (const auto& [name, split, folder, bits] :
       {Asking{"integer", "test", "test", ""}, Asking{"integer", "validation", "val", "--bits 3"},
        Asking{"simulate", "test", "test", "--bits 3"}, Asking{"simulate", "validation", "val", ""},
        Asking{"gates", "test", "test", ""}, Asking{"gates", "validation", "val", "--bits fp"}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", name, split, bits));
    const auto scored = nlohmann::json::parse(
        run(fmt::format("eval {} --json --split {} {}", name, split, bits)).text);
    const double right = scored["results"][0]["accuracy"].get<double>() / 100;
    const nlohmann::json found = answers(fmt::format("{} pictures/{} {}", name, folder, bits));
    ASSERT_EQ(found["pictures"].size(), scored["samples"]);
    EXPECT_EQ(count_right(found), std::lround(right * scored["samples"].get<double>()));
  }
}

// The same of a dataset that has no files: what it draws, written as pictures.
TEST_F(PredictTest, IsRightAsOftenOnPicturesOfAFixedSize) {
  train("drawn", " --set data.dataset=synthetic --set data.limit=30 --set seed=5");
  const auto samples =
      open_dataset({.name = "synthetic", .split = Split::test, .limit = 30, .seed = 5});
  for (std::int64_t i = 0; i < samples->size(); ++i) {
    const Image image = samples->image(i);
    test::write(
        at(fmt::format("drawings/{}/{}.png", samples->label(i), i)),
        test::png({.width = image.shape.width, .height = image.shape.height}, image.pixels));
  }
  const auto scored = nlohmann::json::parse(run("eval drawn --json").text);
  const double right = scored["results"][0]["accuracy"].get<double>() / 100;
  EXPECT_EQ(count_right(answers("drawn drawings")), std::lround(30 * right));
}

TEST_F(PredictTest, AnswersDoNotDependOnCompany) {
  train("simulate", kCyclic + std::string("simulate"));
  train("gates", kGates);
  for (const std::string name : {"integer", "simulate --bits 4", "gates"}) {
    SCOPED_TRACE(name);
    const std::string command = "predict " + name + " --json --top 9 pictures/test";
    const Outcome together = run(command);
    const nlohmann::json one = answers(name + " pictures/test/bee/7.png");
    EXPECT_THAT(nlohmann::json::parse(together.text)["pictures"],
                testing::Contains(one["pictures"][0]));  // in every digit
  }
}

// Else the counts above would say little.
TEST_F(PredictTest, TheNetworkTellsSomethingApart) {
  std::set<std::string> found;
  const nlohmann::json all = answers("integer pictures/test");
  for (const auto& picture : all["pictures"]) found.insert(picture["classes"][0]["name"]);
  EXPECT_GT(found.size(), 1u);
}

TEST_F(PredictTest, NamesTheBestClassesInOrder) {
  const auto classes = answers("integer pictures/test/cow/3.png")["pictures"][0]["classes"];
  ASSERT_EQ(classes.size(), 3u);
  double sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i]["name"], kClasses[classes[i]["number"].get<std::size_t>()]);
    EXPECT_LE(classes[i]["probability"], classes[i > 0 ? i - 1 : 0]["probability"]);
    sum += classes[i]["probability"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  const Outcome line = run("predict integer pictures/test/cow/3.png --top 1");
  EXPECT_THAT(line.text,
              testing::MatchesRegex("pictures/test/cow/3.png: (ape|bee|cow) [0-9.]+ %\n"));
}

TEST_F(PredictTest, WhatCannotBeReadIsNamedAndTheRestAnswered) {
  const std::string good = "pictures/test/ape/1.png";
  test::write(at("mixed/notes.txt"), std::string("taken in May"));
  fs::copy_file(at(good), at("mixed/a.png"), fs::copy_options::overwrite_existing);
  const Outcome strays = run("predict integer mixed 2>&1");
  EXPECT_EQ(strays.status, 0);
  EXPECT_THAT(strays.text, HasSubstr("note: mixed/notes.txt is no picture; skipped"));
  test::Bytes cut = test::noisy_jpeg(20, 20);
  cut.resize(cut.size() / 2);
  test::write(at("mixed/cut.jpg"), cut);
  ASSERT_EQ(::mkfifo(at("pipe.png").c_str(), 0600), 0);
  for (const std::string asked :
       {"mixed", "mixed/cut.jpg mixed/a.png", "nowhere.jpg mixed/a.png",
        "mixed/notes.txt mixed/a.png", "/dev/zero mixed/a.png", "pipe.png mixed/a.png"}) {
    const Outcome found = run("predict integer " + asked + " 2>&1");
    EXPECT_EQ(found.status, kDataStatus) << asked;
    EXPECT_THAT(found.text, HasSubstr("\nmixed/a.png: ")) << asked;
    EXPECT_THAT(found.text, HasSubstr("warning: ")) << asked;
  }
  fs::create_directories(at("bare"));
  EXPECT_EQ(run("predict integer bare 2>&1").status, kDataStatus);
}

TEST_F(PredictTest, DirectoriesThatCannotBeListedAreNamedAndTheRestAnswered) {
  fs::create_directories(at("closed/deeper"));
  fs::copy_file(at("pictures/test/ape/1.png"), at("closed/a.png"));
  fs::copy_file(at("pictures/test/ape/1.png"), at("closed/deeper/b.png"));
  // Root may list everything unless it waives that.
  const std::string waived = ::geteuid() == 0 ? "setpriv --bounding-set -all --inh-caps -all" : "";
  fs::permissions(at("closed/deeper"), fs::perms::none);
  const Outcome found = run("predict integer closed closed/deeper/b.png 2>&1", waived);
  EXPECT_EQ(found.status, kDataStatus);
  EXPECT_THAT(found.text, HasSubstr("\nclosed/a.png: "));
  EXPECT_THAT(found.text,
              HasSubstr("warning: closed/deeper cannot be listed: Permission denied; skipped"));
  EXPECT_THAT(found.text, HasSubstr("warning: cannot read closed/deeper/b.png: Permission denied"));
  const Outcome whole = run("predict integer closed/deeper pictures/test/ape/1.png 2>&1", waived);
  EXPECT_EQ(whole.status, kDataStatus);
  EXPECT_THAT(whole.text, HasSubstr("warning: closed/deeper cannot be listed"));
  EXPECT_THAT(whole.text, HasSubstr("\npictures/test/ape/1.png: "));
  fs::permissions(at("closed/deeper"), fs::perms::owner_all);
}

TEST_F(PredictTest, LinksInAFolderBringNoPictureTwice) {
  fs::create_directories(at("linked/one"));
  fs::create_directories(at("linked/two"));
  fs::copy_file(at("pictures/test/ape/1.png"), at("linked/one/a.png"));
  for (const char* name : {"x", "y"}) {
    fs::create_directory_symlink("../two", at("linked/one") / name);
    fs::create_directory_symlink("../one", at("linked/two") / name);
  }
  const nlohmann::json found = answers("integer linked");
  EXPECT_EQ(found["pictures"].size(), 1);
  EXPECT_EQ(found["skipped"].size(), 4);
}

// LibTorch is not even tried with so little room: that would be another status.
constexpr const char* kTooLittle = "ulimit -v 700000;";

TEST_F(PredictTest, MistakesAreAnsweredBeforeLibTorchIsLoaded) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome found = run("predict " + arguments + " 2>&1", kTooLittle);
    EXPECT_EQ(found.status, kUsageStatus) << arguments;
    return found.text;
  };
  EXPECT_THAT(refused("nowhere a.png"), HasSubstr("is no run directory"));
  EXPECT_THAT(refused("integer a.png --bits 3,4"), HasSubstr("expected one width"));
  EXPECT_THAT(refused("integer a.png --top 0"), HasSubstr("--top"));
  test::write(at("language/recipe.toml"),
              std::string("steps = 1\n[model]\nname = \"lstm_lm\"\n[data]\ndataset = \"ptb\"\n"));
  EXPECT_THAT(refused("language a.png"), HasSubstr("language model \"lstm_lm\""));
}

// Who moves a run takes no pictures along. Runs of before have no names stored with them.
TEST_F(PredictTest, NeedsNoTrainingPictures) {
  const std::string asked = "integer cow.png --json";
  fs::copy_file(pictures() / "test/cow/3.png", at("cow.png"));
  const std::string whole = run("predict " + asked).text;
  fs::rename(pictures(), at("moved"));
  EXPECT_EQ(run("predict " + asked).text, whole);
  fs::remove(at("integer/classes.txt"));
  nlohmann::json numbered = answers(asked);
  fs::rename(at("moved"), pictures());
  EXPECT_EQ(run("predict " + asked).text, whole);  // from the folder
  for (auto& guess : numbered["pictures"][0]["classes"]) {
    EXPECT_EQ(guess["name"], std::to_string(guess["number"].get<int>()));
    guess["name"] = kClasses[guess["number"].get<std::size_t>()];
  }
  EXPECT_EQ(numbered, nlohmann::json::parse(whole));
  const Outcome longer = run("train integer --resume --accept-changes --set epochs=5 -q 2>&1");
  EXPECT_EQ(longer.status, 0) << longer.text;
  EXPECT_TRUE(fs::exists(at("integer/classes.txt")));
}

// Unlike words, classes need not be those of the run that weights are taken from.
TEST_F(PredictTest, NamesThatAreNotTheNetworksAreNotUsed) {
  const std::string own = text_of(read_file(at("integer/classes.txt")));
  for (const std::string& names : {"zero\n" + own, std::string("ape\n\ncow\n")}) {
    write_file(at("integer/classes.txt"), names);
    const Outcome found = run("predict integer pictures/test/cow/3.png 2>&1");
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.text, HasSubstr("warning: the names of the classes do not fit"));
    for (const char* name : kClasses)
      EXPECT_THAT(found.text, Not(HasSubstr(std::string(name) + " ")));
  }
  write_file(at("integer/classes.txt"), std::string("ape\r\nbee\r\ncow\r\n"));
  const std::string foreign = run("predict integer pictures/test/cow/3.png 2>&1").text;
  write_file(at("integer/classes.txt"), own);
  EXPECT_EQ(run("predict integer pictures/test/cow/3.png 2>&1").text, foreign);
}

TEST_F(PredictTest, AsksTheCheckpointThatIsNamed) {
  train("averaged", kCyclic + std::string("integer --set averaging.start=0.5"));
  const auto probabilities = [&](const std::string& word) {
    return answers("averaged pictures/test/cow/3.png --checkpoint " + word)["pictures"];
  };
  EXPECT_NE(probabilities("averaged"), probabilities("last"));
  EXPECT_EQ(run("predict averaged pictures --checkpoint 7 2>&1").status,
            exit_status(ErrorCode::checkpoint));
  EXPECT_EQ(run("predict averaged pictures --top 0 2>&1").status, kUsageStatus);
}

TEST_F(PredictTest, WeightsGoToOtherClasses) {
  fs::copy(pictures(), at("others"), fs::copy_options::recursive);
  for (const char* part : {"train", "val", "test"}) {
    fs::rename(at("others") / part / "cow", at("others") / part / "ant");
  }
  train("adapted",
        kCyclic + std::string("integer --set data.root=others --set model.weights=integer"));

  EXPECT_THAT(run("predict adapted others/test/ant/1.png").text, HasSubstr(" bee "));
  EXPECT_EQ(text_of(read_file(at("adapted/classes.txt"))), "ant\nape\nbee\n");
}

}  // namespace
}  // namespace bitcycle
