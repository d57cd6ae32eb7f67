#include "cli/runs/run_checkpoint.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

std::optional<Step> named_step(const CheckpointStore& store, const std::string& word) {
  if (word == "best") return store.best() ? store.best() : store.latest();
  if (word == "last") return store.latest();
  const char* end = word.data() + word.size();
  Step number = 0;
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

Step chosen_step(const CheckpointStore& store, const std::string& word,
                 const std::filesystem::path& run) {
  const std::optional<Step> step = named_step(store, word);
  const auto steps = store.steps();
  if (step && std::find(steps.begin(), steps.end(), *step) != steps.end()) return *step;
  if (steps.empty()) {
    throw Error(ErrorCode::checkpoint, "there is no checkpoint in \"" + run.string() + "\"",
                "The run has not come to its first one; `bitcycle train " + run.string() +
                    " --resume` trains it.");
  }
  throw Error(ErrorCode::checkpoint, "no checkpoint \"" + word + "\" in \"" + run.string() + "\"",
              fmt::format("--checkpoint takes best, last, averaged, or a step; there are: {}",
                          fmt::join(steps, ", ")));
}

Step averaged_step(const CheckpointStore& store, const std::filesystem::path& run) {
  if (const auto step = store.latest()) return *step;
  throw Error(ErrorCode::checkpoint, "there are no averaged weights in \"" + run.string() + "\"",
              "A run makes them at its end if its recipe has [averaging].");
}

}  // namespace

std::filesystem::path RunCheckpoint::path(const std::string& file) const {
  return CheckpointStore(home).directory(step) / file;
}

std::span<const std::byte> RunCheckpoint::bytes(const std::string& file) const {
  const auto found = files.find(file);
  return found == files.end() ? std::span<const std::byte>() : found->second;
}

std::filesystem::path checkpoint_home(const std::filesystem::path& run, const std::string& word) {
  return word == kAveragedFolder ? run / kAveragedFolder : run;
}

RunCheckpoint read_checkpoint(const std::filesystem::path& run, const std::string& word) {
  const std::filesystem::path home = checkpoint_home(run, word);
  const CheckpointStore store(home);
  auto [step, files] = store.load_chosen(
      [&] { return home == run ? chosen_step(store, word, run) : averaged_step(store, run); });
  return {home, step, std::move(files)};
}

}  // namespace bitcycle::cli
