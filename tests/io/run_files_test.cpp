// The files that stand in a run directory beside the checkpoints: the lock and the line log.

#include "bitcycle/io/file.h"
#include "bitcycle/io/line_log.h"
#include "bitcycle/io/run_lock.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

TEST(LineLogTest, AppendsWholeLinesAndKnowsItsLength) {
  const TemporaryDirectory run;
  LineLog log(run / "metrics.jsonl");
  log.append("{\"step\":1}");
  log.append("");
  log.sync();
  EXPECT_EQ(text_of(read_file(run / "metrics.jsonl")), "{\"step\":1}\n\n");
  EXPECT_EQ(log.offset(), 12U);
}

TEST(LineLogTest, AResumedLogEndsInTheSameBytes) {
  const TemporaryDirectory run;
  std::uint64_t offset = 0;
  {
    LineLog log(run / "log");
    log.append("one");
    offset = log.offset();
    log.append("two, written after the checkpoint");
    log.append("three");
  }
  LineLog log(run / "log", offset);
  log.append("two");
  EXPECT_EQ(text_of(read_file(run / "log")), "one\ntwo\n");
  EXPECT_EQ(log.offset(), 8U);
}

TEST(LineLogTest, AFreshLogForgetsAnOldOne) {
  const TemporaryDirectory run;
  write_file(run / "log", "old\n");
  LineLog(run / "log").append("new");
  EXPECT_EQ(text_of(read_file(run / "log")), "new\n");
}

TEST(LineLogTest, AFileShorterThanTheCheckpointSaysIsRefusedUntouched) {
  const TemporaryDirectory run;
  write_file(run / "log", "abc\n");
  const Error error = error_of([&] { LineLog(run / "log", 5); });
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("has 4 bytes, but the checkpoint expects at least 5"));
  EXPECT_EQ(text_of(read_file(run / "log")), "abc\n");
}

TEST(LineLogTest, NobodyIsWaitedForToReadAPipe) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "log").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { LineLog(directory / "log", 0); }).code(), ErrorCode::io);
  ASSERT_EQ(::mkfifo((directory / ".lock").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { RunLock(directory.path()); }).code(), ErrorCode::io);
  EXPECT_FALSE(is_in_use(directory.path()));
}

TEST(LineLogTest, FullDiskAndUnwritablePlaceAreIoErrors) {
  const TemporaryDirectory run;
  LineLog log(run / "log");
  log.append("one");
  {
    const FileSizeLimit limit(6);
    EXPECT_EQ(error_of([&] { log.append("two two"); }).code(), ErrorCode::io);
  }
  EXPECT_EQ(log.offset(), 4U);
  EXPECT_EQ(error_of([&] { LineLog(run / "log" / "x"); }).code(), ErrorCode::io);
}

TEST(RunLockTest, ASecondTrainerIsRefusedUntilTheFirstIsDone) {
  const TemporaryDirectory parent;
  {
    const RunLock lock(parent / "runs" / "a");
    const Error error = error_of([&] { RunLock(parent / "runs" / "a"); });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("is in use: process " + std::to_string(::getpid())));
    EXPECT_THAT(error.hint(), HasSubstr("choose another run directory"));
    const RunLock other(parent / "runs" / "b");
  }
  const RunLock again(parent / "runs" / "a");
}

TEST(RunLockTest, AKilledTrainerHoldsNothing) {
  const TemporaryDirectory run;
  int ready[2] = {};
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(run.path());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(error_of([&] { RunLock(run.path()); }).what(), HasSubstr(std::to_string(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const RunLock lock(run.path());
}

TEST(RunLockTest, ALockFileThatNobodyHoldsIsEmpty) {
  const TemporaryDirectory run;
  {
    const RunLock lock(run.path());
    EXPECT_EQ(text_of(read_file(run / ".lock")), std::to_string(::getpid()) + "\n");
  }
  EXPECT_EQ(text_of(read_file(run / ".lock")), "");
}

TEST(RunLockTest, AnUnwritableRunDirectoryIsAnIoError) {
  const TemporaryDirectory run;
  write_file(run / "file", "");
  const Error error = error_of([&] { RunLock(run / "file"); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_THAT(error.what(), HasSubstr("cannot create " + (run / "file").string()));
}

}  // namespace
}  // namespace bitcycle
