#include "bitcycle/events/timing_file.h"

#include "bitcycle/io/file.h"

#include "base/json_text.h"

#include <algorithm>

namespace bitcycle {
namespace {

constexpr const char* kName = "timing.jsonl";

// Where the last whole line of a file ends: a machine that lost its power may leave half of one.
std::uint64_t end_of_lines(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  const auto newline = std::find(bytes.rbegin(), bytes.rend(), std::byte{'\n'});
  return static_cast<std::uint64_t>(bytes.rend() - newline);
}

}  // namespace

TimingFile::TimingFile(const std::filesystem::path& run_directory) : path_(run_directory / kName) {}

std::string TimingFile::name() const {
  return kName;
}

void TimingFile::begin(const RunStart& start, std::uint64_t /*offset*/) {
  const bool goes_on = start.step > 0 && std::filesystem::exists(path_);
  log_.emplace(path_, goes_on ? end_of_lines(path_) : 0);
}

void TimingFile::step(const StepReport& report) {
  if (report.logged) append(report);
}

void TimingFile::stop(const StepReport& report) {
  if (report.seconds > 0) append(report);
}

// Its offset is no function of the run, so no checkpoint may hold it.
std::uint64_t TimingFile::sync() {
  log_->sync();
  return 0;
}

void TimingFile::append(const StepReport& report) {
  log_->append(json_text({{"step", report.step}, {"seconds", report.seconds}}));
}

}  // namespace bitcycle
