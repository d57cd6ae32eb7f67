#pragma once

// The landscape of a run: which weights, directions, samples and bits it is of, and what the task's
// metrics are at every point. Stored in the run directory under a name that says all of that, so
// that landscapes of different settings never mix:
//
//   landscape/step64000-bits8-grid51-range1-samples2048-seed123.json   every value
//   landscape/....csv                                                  a row per point
//   landscape/....points.jsonl   the points so far, while it is being made

#include "bitcycle/landscape/surface.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

// What a user chooses, and all that decides a landscape besides the weights and data of the run.
struct LandscapeSettings {
  std::string bits = "8";  // forward; "fp": float. The words of bitcycle/config/precision_policy.h
  PlaneGrid grid;
  std::int64_t samples = 2048;  // of the training set (of a text, tokens); 0: all
  std::uint64_t seed = 123;     // of the directions, and of which samples
  bool operator==(const LandscapeSettings&) const = default;
};

struct LandscapeSubject {
  std::int64_t step = 0;    // of the checkpoint
  std::string fingerprint;  // of its weights and data
  LandscapeSettings settings;
  bool operator==(const LandscapeSubject&) const = default;
};

struct Landscape {
  LandscapeSubject subject;
  std::int64_t scored = 0;           // samples or tokens
  std::string unit = "samples";      // of `scored`
  std::vector<std::string> metrics;  // "loss" among them
  // By point, as a Surface has them, then by metric. What is not finite is NaN.
  std::vector<std::vector<double>> points;

  // Of a metric that is there.
  Surface surface(const std::string& metric) const;
};

inline constexpr const char* kLandscapeFolder = "landscape";

// "bits8-grid51-range1-samples2048-seed123": the same for runs that can be compared.
std::string to_text(const LandscapeSettings& settings);
// Where the landscape of a run stands: .json here, other files of it beside it.
std::filesystem::path landscape_file(const std::filesystem::path& run_directory,
                                     const LandscapeSubject& subject);

// Writes the .json and the .csv file. Throws Error(io).
void store_landscape(const std::filesystem::path& run_directory, const Landscape& landscape);
// Throws Error(io) that says what is wrong with the file.
Landscape read_landscape(const std::filesystem::path& file);
// The .json files of a run, by name.
std::vector<std::filesystem::path> landscape_files(const std::filesystem::path& run_directory);

}  // namespace bitcycle
