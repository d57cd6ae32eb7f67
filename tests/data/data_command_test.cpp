// `bitcycle data` as people and scripts see it: the program itself, run as a process.

#include "bitcycle/base/error.h"

#include "data/checksum.h"
#include "data/loopback_server.h"
#include "data/small_archive.h"

#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

class DataCommandTest : public testing::Test {
 protected:
  struct Outcome {
    int status = 0;
    std::string out;
    std::string err;
  };

  std::string text(const fs::path& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Outcome run(const std::string& arguments) const {
    const fs::path out = place_ / "out", err = place_ / "err";
    const std::string command = std::string(BITCYCLE_PROGRAM) + " data " + arguments + " >" +
                                out.string() + " 2>" + err.string();
    const int result = std::system(command.c_str());
    return {WEXITSTATUS(result), text(out), text(err)};
  }
  std::string get_arguments() const {
    return "get cifar10 --to " + to_.string() + " --url " + server_.url() + " --md5 " +
           md5(archive_);
  }

  test::Environment no_proxy_{"no_proxy", "*"};
  TemporaryDirectory place_;
  fs::path to_ = place_ / "data";
  test::Environment data_{"BITCYCLE_DATA", to_.string()};
  Bytes archive_ = test::make_archive(test::small_cifar10(20));
  test::LoopbackServer server_{{.content = archive_}};
};

TEST_F(DataCommandTest, GetsThenLists) {
  const Outcome get = run(get_arguments());
  EXPECT_EQ(get.status, 0) << get.err;
  EXPECT_EQ(get.out, (to_ / "cifar-10-batches-bin").string() + "\n");
  EXPECT_THAT(get.err, testing::HasSubstr("100 %"));
  EXPECT_THAT(get.err, testing::Not(testing::HasSubstr("\r")));

  const Outcome list = run("--root " + to_.string());
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, testing::ContainsRegex("cifar10 +found +.*cifar-10-batches-bin"));
  EXPECT_THAT(list.out, testing::ContainsRegex("cifar100 +missing +.*bitcycle data get cifar100"));
  EXPECT_THAT(list.out, testing::ContainsRegex("fashion_mnist +missing +.*dataset-fashion-mnist"));
}

TEST_F(DataCommandTest, VerifyFindsDamage) {
  run(get_arguments());
  const std::string verify = "--verify --json --root " + to_.string();
  const auto intact = nlohmann::json::parse(run(verify).out);
  EXPECT_EQ(intact["datasets"][1]["state"], "intact");
  test::write(to_ / "cifar-10-batches-bin/test_batch.bin", Bytes(3073));
  const Outcome outcome = run(verify);
  EXPECT_EQ(outcome.status, exit_status(ErrorCode::data));
  const auto damaged = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(damaged["datasets"][1]["state"], "damaged");
  EXPECT_THAT(damaged["datasets"][1]["problem"], testing::HasSubstr("test_batch.bin is damaged"));
  EXPECT_EQ(damaged["places"][0], to_.string());
}

TEST_F(DataCommandTest, VerifyFindsSetsWithoutSamples) {
  std::string sums;
  for (const test::ArchiveEntry& entry : test::small_cifar10(0)) {
    const fs::path file = to_ / entry.path;
    test::write(file, entry.content);
    sums += md5(entry.content) + "  " + file.filename().string() + "\n";
  }
  test::write(to_ / "cifar-10-batches-bin/MD5SUMS", sums);
  const Outcome outcome = run("--verify --json --root " + to_.string());
  EXPECT_EQ(outcome.status, exit_status(ErrorCode::data));
  const auto found = nlohmann::json::parse(outcome.out)["datasets"][1];
  EXPECT_EQ(found["state"], "damaged");
  EXPECT_THAT(found["problem"], testing::HasSubstr("at least one record"));
}

TEST_F(DataCommandTest, TextCorporaAreListedAndVerified) {
  const std::string arguments = "--root " + to_.string();
  EXPECT_THAT(run(arguments).out, testing::ContainsRegex("ptb +missing +Put ptb.train.txt"));
  for (const char* name : {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"}) {
    test::write(to_ / "wikitext-103" / name, std::string("= Title =\n\nA <unk> .\n"));
  }
  const Outcome outcome = run(arguments + " --verify");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("wikitext103 +intact +.*/wikitext-103"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("wikitext2 +missing +Unpack"));
  test::write(to_ / "wikitext-103/wiki.test.tokens", std::string("A \xff .\n"));
  const Outcome damaged = run(arguments + " --verify --json");
  EXPECT_EQ(damaged.status, exit_status(ErrorCode::data));
  const auto found = nlohmann::json::parse(damaged.out)["datasets"][5];
  EXPECT_EQ(found["name"], "wikitext103");
  EXPECT_THAT(found["problem"], testing::HasSubstr("wiki.test.tokens, line 1: expected UTF-8"));
}

TEST_F(DataCommandTest, ErrorsHaveTheirExitStatus) {
  EXPECT_EQ(run("get").status, exit_status(ErrorCode::usage));
  EXPECT_EQ(run("get cifar11").status, exit_status(ErrorCode::usage));
  EXPECT_EQ(run("get ptb").status, exit_status(ErrorCode::data));
  server_.behave({.content = {}, .status = 500});
  const Outcome outcome = run(get_arguments());
  EXPECT_EQ(outcome.status, exit_status(ErrorCode::network));
  EXPECT_THAT(outcome.err, testing::HasSubstr("the server answered 500"));
}

TEST_F(DataCommandTest, AKilledDownloadLeavesNoDatasetAndResumes) {
  server_.behave({.content = archive_, .stall_after = 5000});
  const std::string sum = md5(archive_), url = server_.url(), to = to_.string();
  const char* arguments[] = {BITCYCLE_PROGRAM, "data",      "get",   "cifar10",
                             "--to",           to.c_str(),  "--url", url.c_str(),
                             "--md5",          sum.c_str(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, BITCYCLE_PROGRAM, nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
            0);
  const fs::path part = to_ / "cifar-10-batches-bin.tar.gz.part";
  std::error_code ignored;
  for (int i = 0; i < 500 && fs::file_size(part, ignored) != 5000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(fs::file_size(part), 5000u);
  EXPECT_FALSE(fs::exists(to_ / "cifar-10-batches-bin"));
  server_.behave({.content = archive_});
  EXPECT_EQ(run(get_arguments()).status, 0);
  EXPECT_EQ(server_.requests(), (std::vector<std::size_t>{0, 5000}));
}

}  // namespace
}  // namespace bitcycle
