#include "bitcycle/base/processors.h"

#include "base/made_up_machine.h"

#include <numeric>

#include <gtest/gtest.h>
#include <sched.h>

namespace bitcycle {
namespace {

using test::MadeUpMachine;

std::vector<int> first_cpus(int count) {
  std::vector<int> cpus(static_cast<std::size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

TEST(CpuListTest, ReadsNumbersAndRanges) {
  EXPECT_EQ(parse_cpu_list("3"), std::vector<int>{3});
  EXPECT_EQ(parse_cpu_list("0,32"), (std::vector<int>{0, 32}));
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
}

TEST(CpuListTest, RefusesWhatIsNoList) {
  for (const char* text : {"x", "1-", "-1", "1,,2", "0x3", "1-99999999", "99999999999999"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(PhysicalCoresTest, HyperThreadsOfACoreCountOnce) {
  for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {
    const MadeUpMachine machine;
    machine.has_hyper_threads(4, name);
    const auto cores = physical_cores(first_cpus(8), machine.root());
    ASSERT_EQ(cores.size(), 4u) << name;
    EXPECT_EQ(cores[1], (ProcessorCore{1, {1, 5}}));
  }
}

TEST(PhysicalCoresTest, OnlyAllowedCpusCount) {
  const MadeUpMachine machine;
  machine.has_hyper_threads(4);
  EXPECT_EQ(physical_cores({2, 5, 6}, machine.root()),
            (std::vector<ProcessorCore>{{1, {5}}, {2, {2, 6}}}));
}

TEST(PhysicalCoresTest, WithoutTopologyEveryCpuIsACore) {
  const MadeUpMachine machine;
  EXPECT_EQ(physical_cores({0, 3}, machine.root()),
            (std::vector<ProcessorCore>{{0, {0}}, {3, {3}}}));
  machine.write("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "nonsense");
  machine.write("sys/devices/system/cpu/cpu3/topology/core_cpus_list", "1-2");
  EXPECT_EQ(physical_cores({0, 3}, machine.root()).size(), 2u);
}

TEST(CpuQuotaTest, ReadsTheGroupOfTheProcess) {
  const MadeUpMachine machine;
  machine.has_groups("/jobs/ours");
  machine.write("sys/fs/cgroup/jobs/ours/cpu.max", "150000 100000");
  machine.write("sys/fs/cgroup/jobs/theirs/cpu.max", "50000 100000");
  EXPECT_EQ(cpu_quota(machine.root()), 1.5);
}

TEST(CpuQuotaTest, TheSmallestOnTheWayUpCounts) {
  const MadeUpMachine machine;
  machine.has_groups("/a/b/c");
  machine.write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
  machine.write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  machine.write("sys/fs/cgroup/a/cpu.max", "100000 50000");
  EXPECT_EQ(cpu_quota(machine.root()), 2.0);
}

TEST(CpuQuotaTest, FindsTheGroupThatAContainerMounts) {
  const MadeUpMachine inside;  // a namespace of its own: the group is called "/"
  inside.has_groups("/");
  inside.write("sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_EQ(cpu_quota(inside.root()), 2.0);
  const MadeUpMachine shared;  // the host's names, but only the container's group mounted
  shared.has_groups("/docker/1234/child", "/docker/1234");
  shared.write("sys/fs/cgroup/child/cpu.max", "max 100000");
  shared.write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(cpu_quota(shared.root()), 3.0);
  const MadeUpMachine outside;  // a group above what is mounted
  outside.has_groups("/../../other");
  outside.write("sys/fs/cgroup/cpu.max", "500000 100000");
  EXPECT_EQ(cpu_quota(outside.root()), 5.0);
}

TEST(CpuQuotaTest, ReadsTheOlderInterface) {
  const MadeUpMachine machine;
  machine.has_old_groups("/docker/1234");
  const std::string group = "sys/fs/cgroup/cpu,cpuacct/docker/1234/";
  machine.write(group + "cpu.cfs_period_us", "100000");
  machine.write(group + "cpu.cfs_quota_us", "-1");
  EXPECT_EQ(cpu_quota(machine.root()), std::nullopt);
  machine.write(group + "cpu.cfs_quota_us", "250000");
  EXPECT_EQ(cpu_quota(machine.root()), 2.5);
}

TEST(CpuQuotaTest, WhatCannotBeReadIsNoQuota) {
  const MadeUpMachine machine;
  EXPECT_EQ(cpu_quota(machine.root()), std::nullopt);
  machine.has_groups("/a");
  EXPECT_EQ(cpu_quota(machine.root()), std::nullopt);
  for (const char* text : {"", "max 100000", "100000", "100000 0", "-5 100000", "x y"}) {
    machine.write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(cpu_quota(machine.root()), std::nullopt) << text;
  }
}

TEST(DefaultThreadsTest, OneACoreUpToTheQuota) {
  EXPECT_EQ(default_threads(64, std::nullopt), 64);
  EXPECT_EQ(default_threads(64, 2.0), 2);
  EXPECT_EQ(default_threads(64, 1.5), 2);
  EXPECT_EQ(default_threads(64, 0.2), 1);
  EXPECT_EQ(default_threads(4, 100.0), 4);
  EXPECT_EQ(default_threads(0, std::nullopt), 1);
}

TEST(AllowedCpusTest, AreThoseOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<int> all = allowed_cpus();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(static_cast<std::size_t>(all.back()), &last);
  ASSERT_EQ(sched_setaffinity(0, sizeof last, &last), 0);
  EXPECT_EQ(allowed_cpus(), std::vector<int>{all.back()});
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace bitcycle
