// `bitcycle landscape`: the loss around trained weights, as numbers and as contour pictures.

#include "bitcycle/base/error.h"
#include "bitcycle/config/precision_policy.h"

#include "cli/command.h"
#include "cli/torch_commands.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

constexpr int kMostPoints = 501;  // along each side
constexpr int kMostLevels = 200;

constexpr const char* kFooter =
    "Weights are moved along two random directions, each filter of which is as long as the filter\n"
    "of the network (Li et al. 2018); runs that are given together are seen along the same ones.\n"
    "Loss and metrics are of a fixed sample of the training set without augmentation, in "
    "evaluation\n"
    "mode. They are stored with the run (RUN/landscape/), apart for each choice of options; the "
    "same\n"
    "command goes on where it was stopped or killed, and draws what is there already at once.\n"
    "docs/landscape.md has more.\n"
    "\n"
    "Examples:\n"
    "  bitcycle landscape runs/demo-cpt runs/demo-static --grid 21    side by side, landscape.png\n"
    "  bitcycle landscape runs/demo-cpt --bits fp -o in-float\n"
    "  bitcycle landscape runs/demo-cpt --samples all --json\n"
    "\n"
    "Ctrl-C finishes the point and exits with 130.";

[[noreturn]] void refuse(const std::string& option, const std::string& expected,
                         const std::string& found, const std::string& hint) {
  throw Error(ErrorCode::usage, option + ": expected " + expected + ", found " + found, hint);
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::int64_t samples_of(const std::string& word) {
  std::int64_t samples = 0;
  if (word == "all") return 0;
  if (read_number(word, samples) && samples > 0) return samples;
  refuse("--samples", "a number from 1, or all", "\"" + word + "\"", "");
}

// The words of evaluation widths; float has one name in files.
std::string bits_of(const std::string& word) {
  try {
    return parse_evaluation_bits(word).kind == EvaluationBits::Kind::full ? "fp" : word;
  } catch (const Error&) {
    refuse("--bits", "a width from 1 to 32, fp, max or current", "\"" + word + "\"",
           "A landscape has one width; another stands beside it.");
  }
}

LevelRange levels_in(const std::string& words) {
  const auto fail = [&](const std::string& expected) {
    refuse("--levels", expected, "\"" + words + "\"", "The default is 0.1:0.5:10.");
  };
  std::vector<double> numbers;
  std::istringstream parts(words);
  for (std::string part; std::getline(parts, part, ':');) {
    numbers.emplace_back();
    if (!read_number(part, numbers.back()) || !std::isfinite(numbers.back())) numbers.clear();
  }
  if (numbers.size() != 3) fail("FIRST:STEP:END");
  const LevelRange range{numbers[0], numbers[1], numbers[2]};
  if (!(range.step > 0) || !(range.first < range.end)) fail("a step above 0 up to a higher end");
  if ((range.end - range.first) / range.step > kMostLevels) {
    fail("at most " + std::to_string(kMostLevels) + " levels");
  }
  return range;
}

void check_grid(const PlaneGrid& grid) {
  if (grid.points < 3 || grid.points > kMostPoints) {
    refuse("--grid", fmt::format("an odd number from 3 to {}", kMostPoints),
           std::to_string(grid.points), "It is the number of points along each side.");
  }
  if (grid.points % 2 == 0) {
    refuse("--grid", "an odd number", std::to_string(grid.points),
           fmt::format("With {} the trained weights are a point of the grid.", grid.points + 1));
  }
  if (!(grid.range > 0) || !std::isfinite(grid.range)) {
    refuse("--range", "a number above 0", fmt::format("{}", grid.range), "");
  }
}

// Before the points are made, which may take hours.
void check_output(const std::filesystem::path& output) {
  const std::string file = output.filename();
  if (file.empty() || file == ".svg" || file == ".png" || file == "." || file == "..") {
    refuse("--output", "a file's name", "\"" + output.string() + "\"",
           "Pictures get .svg and .png behind it.");
  }
  const std::filesystem::path directory = output.parent_path();
  if (directory.empty() || std::filesystem::is_directory(directory)) return;
  refuse("--output", "a directory to write to", "none at \"" + directory.string() + "\"",
         "Make it, or choose another.");
}

}  // namespace

void add_landscape(CLI::App& app, Action& action) {
  struct Words {
    LandscapeOptions options;
    std::string samples = "2048", levels = "0.1:0.5:10";
  };
  auto* command = app.add_subcommand("landscape", "Loss around the trained weights of runs");
  auto words = std::make_shared<Words>();
  LandscapeOptions& options = words->options;
  LandscapeSettings& settings = options.settings;
  command->add_option("runs", options.runs, "Run directories")->required();
  command->add_option("--grid", settings.grid.points, "Points along each side; odd")
      ->capture_default_str();
  command->add_option("--range", settings.grid.range, "Both directions go from -RANGE to RANGE")
      ->capture_default_str();
  command->add_option("--bits", settings.bits, "Forward bits to evaluate at; fp or 0: float")
      ->capture_default_str();
  command
      ->add_option("--samples", words->samples,
                   "How much of the training set: pictures, tokens of a text, or all")
      ->capture_default_str();
  command->add_option("--seed", settings.seed, "Of the directions and the sample")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--checkpoint", options.checkpoint,
                   "best, last, averaged, or the number of a step")
      ->capture_default_str();
  command->add_option("--levels", words->levels, "Losses of the contours, FIRST:STEP:END")
      ->capture_default_str();
  auto* rise = command->add_option(
      "--rise", options.rise, "The area is where the loss is less than this above the centre's");
  rise->capture_default_str()->check(CLI::PositiveNumber)->check(kFinite);
  command->add_option("--level", options.level, "The area is where the loss is below this")
      ->excludes(rise)
      ->check(kFinite);
  command
      ->add_option("-o,--output", options.output,
                   "Pictures to write, .svg and .png, or one of them if it is named")
      ->capture_default_str();
  command->add_flag("-q,--quiet", options.quiet, "Print the result only");
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->footer(kFooter);
  command->callback([words, &action] {
    LandscapeOptions& given = words->options;
    given.settings.bits = bits_of(given.settings.bits);
    given.settings.samples = samples_of(words->samples);
    given.levels = levels_in(words->levels);
    check_grid(given.settings.grid);
    check_output(given.output);
    action = [words] { return run_landscape(words->options); };
  });
}

}  // namespace bitcycle::cli
