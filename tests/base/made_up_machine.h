#pragma once

// A machine that exists in a directory only: the files of /proc and /sys that say what it has.

#include "io/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace bitcycle::test {

class MadeUpMachine {
 public:
  const std::filesystem::path& root() const { return directory_.path(); }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  // CPUs 0 to cores - 1, and as many again that are their second hyper-threads, as x86 numbers
  // them.
  void has_hyper_threads(int cores, const std::string& name = "core_cpus_list") const {
    for (int cpu = 0; cpu < 2 * cores; ++cpu) {
      const int first = cpu % cores;
      write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + name,
            std::to_string(first) + "," + std::to_string(first + cores));
    }
  }

  // One hierarchy of control groups, with the process in `group`.
  void has_groups(const std::string& group, const std::string& mounted = "/") const {
    write("proc/self/cgroup", "0::" + group);
    write("proc/self/mountinfo",
          "22 1 0:21 / /proc rw,nosuid - proc proc rw\n"
          "30 22 0:26 " +
              mounted + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw");
  }

  // The older interface: a hierarchy for each controller.
  void has_old_groups(const std::string& group) const {
    write("proc/self/cgroup",
          "9:memory:" + group + "\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/elsewhere\n0::/");
    write("proc/self/mountinfo",
          "31 30 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
          "33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
          "34 30 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory");
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace bitcycle::test
