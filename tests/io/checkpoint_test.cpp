#include "bitcycle/io/checkpoint.h"

#include "bitcycle/io/file.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CheckpointFiles files_of(std::int64_t step) {
  return {{"model.safetensors", bytes_of(std::string(5000, static_cast<char>('a' + step % 26)))},
          {"state.json", bytes_of("{\"step\":" + std::to_string(step) + "}")}};
}

class CheckpointTest : public testing::Test {
 protected:
  void save(std::int64_t step) { store_.save(step, files_of(step)); }

  std::size_t entries() const {
    return std::distance(fs::directory_iterator(run_ / "checkpoints"), fs::directory_iterator());
  }

  Error load_error(std::int64_t step) {
    const Error error = error_of([&] { store_.load(step); });
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    return error;
  }

  TemporaryDirectory run_;
  CheckpointStore store_{run_.path()};
};

TEST_F(CheckpointTest, LoadsWhatWasSaved) {
  save(12800);
  EXPECT_EQ(store_.load(12800), files_of(12800));
  EXPECT_EQ(store_.directory(12800), run_ / "checkpoints" / "step-00012800");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CheckpointTest, AReaderChoosesAgainWhenTheChosenOneIsRemoved) {
  save(1);
  const auto newest_after_one_more = [&] {
    const std::int64_t found = *store_.latest();
    if (found < 3) {
      save(found + 1);
      store_.prune(/*keep=*/1, /*best=*/-1);
    }
    return found;
  };
  const LoadedCheckpoint loaded = store_.load_chosen(newest_after_one_more);
  EXPECT_EQ(loaded.step, 3);
  EXPECT_EQ(loaded.files, files_of(3));
}

TEST_F(CheckpointTest, AReaderLooksAgainWhenItFoundNone) {
  int asked = 0;
  const auto saved_meanwhile = [&]() -> std::int64_t {
    if (++asked == 1) {
      save(7);
      throw Error(ErrorCode::checkpoint, "there is none");
    }
    return *store_.latest();
  };
  EXPECT_EQ(store_.load_chosen(saved_meanwhile).step, 7);
}

TEST_F(CheckpointTest, AReaderGivesUpOnCheckpointsThatAllVanish) {
  save(1);
  const auto always_too_late = [&] {
    const std::int64_t found = *store_.latest();
    save(found + 1);
    store_.remove(found);
    return found;
  };
  const Error error = error_of([&] { store_.load_chosen(always_too_late); });
  EXPECT_THAT(error.what(), HasSubstr("was removed before it could be read"));
  EXPECT_THAT(error.hint(), HasSubstr("checkpoint.keep"));
}

TEST_F(CheckpointTest, AReaderDoesNotWaitForADamagedOne) {
  save(5);
  write_file(store_.directory(5) / "state.json", "other");
  int asked = 0;
  const Error error = error_of([&] {
    store_.load_chosen([&] {
      ++asked;
      return 5;
    });
  });
  EXPECT_THAT(error.what(), HasSubstr("is damaged"));
  EXPECT_EQ(asked, 1);
}

TEST_F(CheckpointTest, ListsStepsInOrderWhateverTheirLength) {
  for (const std::int64_t step : {300, 20, 1234567890}) save(step);
  EXPECT_THAT(store_.steps(), ElementsAre(20, 300, 1234567890));
  EXPECT_EQ(store_.latest(), 1234567890);
}

TEST_F(CheckpointTest, ARunWithoutCheckpointsHasNone) {
  EXPECT_THAT(store_.steps(), IsEmpty());
  EXPECT_EQ(store_.latest(), std::nullopt);
  EXPECT_EQ(store_.best(), std::nullopt);
  EXPECT_THAT(load_error(7).what(), HasSubstr("step-00000007 is missing"));
}

TEST_F(CheckpointTest, SavingAStepAgainReplacesIt) {
  save(1);
  store_.save(1, {{"other", bytes_of("x")}});
  EXPECT_EQ(store_.load(1), (CheckpointFiles{{"other", bytes_of("x")}}));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CheckpointTest, PruneKeepsTheNewestAndTheBest) {
  for (std::int64_t step = 1; step <= 6; ++step) save(step);
  store_.mark_best(2);
  store_.prune(2, 2);
  EXPECT_THAT(store_.steps(), ElementsAre(2, 5, 6));
  EXPECT_EQ(store_.best(), 2);
  store_.prune(0, 6);
  EXPECT_THAT(store_.steps(), ElementsAre(6));
}

TEST_F(CheckpointTest, IncompleteOnesAreSkippedAndNamed) {
  save(1);
  save(2);
  fs::remove(store_.directory(2) / "DONE");
  EXPECT_EQ(store_.latest(), 1);
  EXPECT_THAT(load_error(2).what(), HasSubstr("incomplete: it has no DONE marker"));
}

TEST_F(CheckpointTest, LeftoversOfAKilledProcessGoWithTheNextSave) {
  for (const char* name : {".new-step-00000009", ".old-step-00000003"}) {
    fs::create_directories(run_ / "checkpoints" / name);
    write_file(run_ / "checkpoints" / name / "DONE", "x");
  }
  EXPECT_THAT(store_.steps(), IsEmpty());
  save(1);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CheckpointTest, LeftoversCanBeClearedAwayWithoutASave) {
  save(1);
  store_.mark_best(1);
  save(2);
  fs::remove(store_.directory(2) / "DONE");
  fs::create_directories(run_ / "checkpoints" / ".new-step-00000003");
  fs::create_directories(run_ / "checkpoints" / ".old-step-00000001");
  write_file(run_ / "checkpoints" / ".best.123-4.tmp", "step-0000");
  write_file(run_ / "checkpoints" / "notes", "of the user");
  store_.remove_leftovers();
  EXPECT_EQ(entries(), 3U);  // the checkpoint, its mark and the notes
  EXPECT_EQ(store_.load(1), files_of(1));
  EXPECT_EQ(store_.best(), 1);
}

TEST_F(CheckpointTest, DamageIsToldWithoutThrowing) {
  save(1);
  save(2);
  fs::resize_file(store_.directory(2) / "state.json", 3);
  EXPECT_EQ(store_.damage(1), "");
  EXPECT_THAT(store_.damage(2), HasSubstr("state.json is damaged"));
  EXPECT_THAT(store_.damage(3), HasSubstr("step-00000003 is missing"));
}

TEST_F(CheckpointTest, ABestMarkCanBeTakenBack) {
  save(1);
  store_.mark_best(1);
  store_.unmark_best();
  EXPECT_EQ(store_.best(), std::nullopt);
  store_.unmark_best();
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CheckpointTest, NamesTheTruncatedFileAndTheWholeCheckpointBefore) {
  for (std::int64_t step = 1; step <= 3; ++step) save(step);
  fs::resize_file(store_.directory(2) / "state.json", 3);
  fs::resize_file(store_.directory(3) / "model.safetensors", 4999);
  const Error error = load_error(3);
  EXPECT_THAT(error.what(), HasSubstr("model.safetensors is damaged: expected 5000 bytes, found "));
  EXPECT_THAT(error.hint(), HasSubstr("checkpoint of step 1 is whole: remove "));
  EXPECT_THAT(error.hint(), HasSubstr("step-00000003 to go back to it"));
}

TEST_F(CheckpointTest, EveryFlippedBitIsNoticed) {
  save(1);
  for (const char* name : {"state.json", "DONE"}) {
    const fs::path path = store_.directory(1) / name;
    const std::vector<std::byte> whole = read_file(path);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::vector<std::byte> bytes = whole;
      bytes[bit / 8] ^= std::byte(1 << (bit % 8));
      std::ofstream(path) << text_of(bytes);
      const Error error = load_error(1);
      ASSERT_THAT(error.what(), HasSubstr(std::string(name) + " is damaged")) << bit;
      ASSERT_THAT(error.hint(), HasSubstr("start the run anew"));
    }
    write_file(path, whole);
  }
}

TEST_F(CheckpointTest, NamesTheMissingFile) {
  save(1);
  fs::remove(store_.directory(1) / "state.json");
  EXPECT_THAT(load_error(1).what(), HasSubstr("state.json: No such file"));
}

TEST_F(CheckpointTest, ADamagedBestMarkIsAnError) {
  save(1);
  write_file(run_ / "checkpoints" / "best", "../../x\n");
  EXPECT_EQ(error_of([&] { store_.best(); }).code(), ErrorCode::checkpoint);
}

TEST_F(CheckpointTest, AWriteThatFailsLeavesThePreviousCheckpoint) {
  save(1);
  {
    const FileSizeLimit limit(4000);
    const Error error = error_of([&] { save(2); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("step-00000002/model.safetensors: File too large"));
  }
  EXPECT_EQ(store_.load(1), files_of(1));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(CheckpointTest, AnUnwritablePlaceIsAnIoError) {
  write_file(run_ / "file", "");
  for (const fs::path& place : {run_ / "file", fs::path("/proc/1")}) {
    const Error error = error_of([&] { CheckpointStore(place).save(1, files_of(1)); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("cannot create " + place.string()));
  }
}

// What a child process reports by its exit status.
constexpr int kGood = 0, kBad = 1, kNotPermitted = 2;

int run_in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBad;
}

TEST_F(CheckpointTest, AFullDiskLeavesThePreviousCheckpoint) {
  const int result = run_in_child([&] {
    const int spaces = ::getuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (::unshare(spaces) == -1 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == -1 ||
        ::mount("tmpfs", run_.path().c_str(), "tmpfs", 0, "size=64k") == -1) {
      return kNotPermitted;
    }
    const auto big = [](std::size_t n) {
      return CheckpointFiles{{"model.safetensors", std::vector<std::byte>(n)}};
    };
    store_.save(1, big(20000));
    const Error error = error_of([&] { store_.save(2, big(100000)); });
    const bool clear = error.code() == ErrorCode::io &&
                       std::string(error.what()).find("No space left") != std::string::npos &&
                       error.hint().find("Free some space") != std::string::npos;
    return clear && store_.load(1) == big(20000) && entries() == 1 ? kGood : kBad;
  });
  if (result == kNotPermitted) GTEST_SKIP() << "this machine permits no mount namespace";
  EXPECT_EQ(result, kGood);
}

TEST_F(CheckpointTest, AProcessKilledAtAnyMomentLeavesWholeCheckpoints) {
  std::int64_t next = 1;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::int64_t step = next;; ++step) {
        save(step);
        if (step % 3 == 0) store_.mark_best(step);
        store_.prune(2, store_.best().value_or(0));
      }
    }
    ::usleep(500 + 1733 * round);  // from before the first save to the middle of a later one
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::int64_t last = store_.latest().value_or(next - 1);
    ASSERT_GE(last, next - 1);
    for (const std::int64_t step : store_.steps()) ASSERT_EQ(store_.load(step), files_of(step));
    if (const auto best = store_.best()) {
      ASSERT_EQ(store_.load(*best), files_of(*best));
    }
    next = last + 1;
  }
  save(next);
  store_.prune(1, store_.best().value_or(0));
  EXPECT_LE(entries(), 3U);  // the newest, the best and its mark: no leftovers
}

}  // namespace
}  // namespace bitcycle
