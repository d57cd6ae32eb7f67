#include "bitcycle/base/memory.h"

#include "bitcycle/base/error.h"

#include "base/made_up_machine.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace bitcycle {
namespace {

using test::MadeUpMachine;

constexpr std::uint64_t kGiga = 1 << 30;

TEST(MemoryTest, IsWhatTheSystemHasAndCanSwap) {
  const MadeUpMachine machine;
  EXPECT_EQ(available_memory(machine.root()), std::numeric_limits<std::uint64_t>::max());
  machine.write("proc/meminfo",
                "MemTotal: 9999999 kB\nMemAvailable:   1048576 kB\nSwapFree: 1024 kB");
  EXPECT_EQ(available_memory(machine.root()), kGiga + (1 << 20));
}

TEST(MemoryTest, IsNoMoreThanAGroupLeaves) {
  const MadeUpMachine machine;
  machine.write("proc/meminfo", "MemAvailable: 104857600 kB");
  machine.has_groups("/a/b");
  machine.write("sys/fs/cgroup/a/b/memory.max", "max");
  machine.write("sys/fs/cgroup/a/b/memory.current", "5");
  machine.write("sys/fs/cgroup/a/memory.max", std::to_string(2 * kGiga));
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(kGiga));
  machine.write("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 1000\nactive_file 9");
  EXPECT_EQ(available_memory(machine.root()), kGiga + 1000);
  machine.write("sys/fs/cgroup/a/memory.current", std::to_string(3 * kGiga));
  EXPECT_EQ(available_memory(machine.root()), 0u);
}

TEST(MemoryTest, ReadsTheOlderInterface) {
  const MadeUpMachine machine;
  machine.has_old_groups("/a");
  machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000");
  machine.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "3000");
  machine.write("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 1\ntotal_inactive_file 100");
  EXPECT_EQ(available_memory(machine.root()), 2100u);
}

TEST(MemoryTest, IsNoMoreThanTheProcessMayHave) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limit = {100 * kGiga, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const std::uint64_t available = available_memory(MadeUpMachine().root());
  EXPECT_EQ(available, 100 * kGiga);
  EXPECT_LT(available_memory(), 100 * kGiga);
  setrlimit(RLIMIT_AS, &before);
}

TEST(MemoryTest, TooMuchIsRefusedInWords) {
  EXPECT_NO_THROW(require_memory(1000, "a little"));
  EXPECT_NO_THROW(require_memory(40 << 20, "a little more"));
  try {
    require_memory(std::uint64_t{1} << 60, "a batch", "Lower it.");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::memory);
    EXPECT_THAT(error.what(), testing::HasSubstr("a batch needs 1152.92 PB of memory, and "));
    EXPECT_EQ(error.hint(), "Lower it.");
  }
}

TEST(MemoryTest, SizesAreReadable) {
  EXPECT_EQ(readable_size(999), "999 bytes");
  EXPECT_EQ(readable_size(1500), "1.50 kB");
  EXPECT_EQ(readable_size(2'345'000'000), "2.35 GB");
}

}  // namespace
}  // namespace bitcycle
