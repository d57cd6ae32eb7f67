#include "bitcycle/events/timing_file.h"

#include "bitcycle/base/machine.h"
#include "bitcycle/io/file.h"
#include "bitcycle/kernels/isa.h"

#include "base/json_text.h"

#include <algorithm>
#include <fstream>

#include <omp.h>

namespace bitcycle {
namespace {

constexpr const char* kName = "timing.jsonl";

// Where the last whole line of a file ends: a machine that lost its power may leave half of one.
std::uint64_t end_of_lines(const std::filesystem::path& path) {
  const auto bytes = read_regular_file(path);
  const auto newline = std::find(bytes.rbegin(), bytes.rend(), std::byte{'\n'});
  return static_cast<std::uint64_t>(bytes.rend() - newline);
}

nlohmann::ordered_json machine_json() {
  return {{"processor", processor_name()},
          {"threads", omp_get_max_threads()},
          {"isa", name(active_isa())}};
}

}  // namespace

std::filesystem::path started_in(const std::filesystem::path& run_directory) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(run_directory / kName, ignored)) return {};
  std::ifstream lines(run_directory / kName);
  std::string line;
  std::getline(lines, line);
  const auto json = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("directory")) return {};
  return json["directory"].is_string() ? json["directory"].get<std::string>() : "";
}

TimingFile::TimingFile(const std::filesystem::path& run_directory) : path_(run_directory / kName) {}

std::string TimingFile::name() const {
  return kName;
}

void TimingFile::begin(const RunStart& start, std::uint64_t /*offset*/) {
  const bool goes_on = start.step > 0 && std::filesystem::exists(path_);
  log_.emplace(path_, goes_on ? end_of_lines(path_) : 0);
}

void TimingFile::step(const StepReport& report) {
  count(report);
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

// A report has the seconds since the last logged step, of which the others were counted before.
void TimingFile::count(const StepReport& report) {
  StepsAtBits& own = by_bits_[report.choices.empty() ? to_text(report.bits) : "as chosen"];
  ++own.steps;
  own.seconds += report.seconds - counted_seconds_;
  counted_seconds_ = report.seconds;
}

void TimingFile::append(const StepReport& report) {
  nlohmann::ordered_json line = {{"step", report.step}, {"seconds", report.seconds}};
  for (const auto& [bits, own] : by_bits_) {
    line["by_bits"].push_back({{"bits", bits}, {"steps", own.steps}, {"seconds", own.seconds}});
  }
  if (!machine_told_) {
    line["machine"] = machine_json();
    std::error_code gone;
    line["directory"] = std::filesystem::current_path(gone).string();
  }
  log_->append(json_text(line));
  machine_told_ = true;
  by_bits_.clear();
  counted_seconds_ = 0;
}

}  // namespace bitcycle
