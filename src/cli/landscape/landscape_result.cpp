#include "cli/landscape/landscape_result.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/landscape_picture.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/runs/run_checkpoint.h"
#include "cli/runs/run_paths.h"

#include <filesystem>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The set whose area is told.
struct LowGround {
  double level = 0, area = 0, share = 0;  // of the whole square
  bool cut_off = false;                   // by the edge of the square
};

LowGround low_ground(const LandscapeOptions& options, const Surface& loss) {
  const double level = options.level.value_or(loss.centre() + options.rise);
  const double side = 2 * loss.grid.range, area = area_below(loss, level);
  return {level, area, area / (side * side), reaches_edge(loss, level)};
}

std::string loss_text(double loss) {
  return std::isfinite(loss) ? fmt::format("{:.4f}", loss) : "not finite";
}

std::string area_text(const LowGround& low) {
  return fmt::format("{}{:.4f}", low.cut_off ? "over " : "", low.area);
}

std::string area_title(const LandscapeOptions& options) {
  return options.level ? fmt::format("area of loss < {}", *options.level)
                       : fmt::format("area of loss < centre + {}", options.rise);
}

std::string table_text(const LandscapeOptions& options, const std::vector<Landscape>& landscapes) {
  Table table({"run", "step", "bits", "loss", "least loss", area_title(options), "of the square"});
  for (std::size_t i = 0; i < landscapes.size(); ++i) {
    const Surface loss = landscapes[i].surface("loss");
    const LowGround low = low_ground(options, loss);
    const LandscapeSubject& subject = landscapes[i].subject;
    table.add_row({options.runs[i], std::to_string(subject.step), subject.settings.bits,
                   loss_text(loss.centre()), loss_text(value_range(loss).least), area_text(low),
                   fmt::format("{:.1f} %", 100 * low.share)});
  }
  return table.text();
}

Json json_of(const LandscapeOptions& options, const Landscape& landscape, const std::string& run) {
  const Surface loss = landscape.surface("loss");
  const LowGround low = low_ground(options, loss);
  const LandscapeSettings& settings = landscape.subject.settings;
  const fs::path file = landscape_file(checkpoint_home(run, options.checkpoint), landscape.subject);
  Json centre = Json::object();
  for (std::size_t i = 0; i < landscape.metrics.size(); ++i) {
    centre[landscape.metrics[i]] = landscape.points[landscape.points.size() / 2][i];
  }
  return {{"run", run},
          {"step", landscape.subject.step},
          {"bits", settings.bits},
          {"grid", settings.grid.points},
          {"range", settings.grid.range},
          {landscape.unit, landscape.scored},
          {"seed", settings.seed},
          {"centre", std::move(centre)},
          {"least_loss", value_range(loss).least},
          {"most_loss", value_range(loss).most},
          {"level", low.level},
          {"area", low.area},
          {"area_share", low.share},
          {"reaches_edge", low.cut_off},
          {"file", file.string()},
          {"csv", fs::path(file).replace_extension(".csv").string()}};
}

LandscapePicture picture_of(const LandscapeOptions& options,
                            const std::vector<Landscape>& landscapes) {
  LandscapePicture picture{.levels = levels_of(options.levels), .panels = {}};
  for (std::size_t i = 0; i < landscapes.size(); ++i) {
    const Surface loss = landscapes[i].surface("loss");
    const LowGround low = low_ground(options, loss);
    picture.panels.push_back(
        {.title = run_name(options.runs[i]),
         .caption =
             fmt::format("loss {} at {} bits, area {} below {:.3g}", loss_text(loss.centre()),
                         landscapes[i].subject.settings.bits, area_text(low), low.level),
         .loss = loss});
  }
  return picture;
}

// The files that were written.
std::vector<std::string> write_pictures(const LandscapeOptions& options,
                                        const LandscapePicture& picture) {
  const fs::path output = options.output;
  const std::string kind = output.extension();
  std::vector<std::string> files;
  if (kind != ".png") files.push_back(kind == ".svg" ? output.string() : output.string() + ".svg");
  if (kind != ".svg") files.push_back(kind == ".png" ? output.string() : output.string() + ".png");
  for (const std::string& file : files) {
    if (file.ends_with(".svg"))
      write_file(file, to_svg(picture));
    else
      write_file(file, to_png(picture));
  }
  return files;
}

void tell_missing_contours(const LandscapePicture& picture) {
  for (const LandscapePanel& panel : picture.panels) {
    const ValueRange range = value_range(panel.loss);
    const auto crosses = [&](double level) { return range.least < level && level <= range.most; };
    if (std::ranges::any_of(picture.levels, crosses)) continue;
    narrate(
        fmt::format("note: {}: no level of the contours lies between the losses {} and {}; "
                    "choose others with --levels\n",
                    panel.title, loss_text(range.least), loss_text(range.most)));
  }
}

}  // namespace

LandscapeSubject landscape_subject(const LandscapeOptions& options,
                                   const RunCheckpoint& checkpoint) {
  Fingerprint print;
  for (const auto& [name, bytes] : checkpoint.files) {
    if (name == "state.json" || name == "model.safetensors") print.add(bytes);
  }
  return {checkpoint.step, print.text(), options.settings};
}

std::optional<Landscape> stored_landscape(const fs::path& home, const LandscapeSubject& subject) {
  const fs::path file = landscape_file(home, subject);
  if (!fs::exists(file)) return std::nullopt;
  try {
    Landscape landscape = read_landscape(file);
    if (landscape.subject == subject) return landscape;
  } catch (const Error&) {
  }
  return std::nullopt;
}

int show_landscapes(const LandscapeOptions& options, const std::vector<Landscape>& landscapes) {
  const LandscapePicture picture = picture_of(options, landscapes);
  const std::vector<std::string> files = write_pictures(options, picture);
  tell_missing_contours(picture);
  if (!options.json) {
    fmt::print("{}", table_text(options, landscapes));
    for (const std::string& file : files) fmt::print("{}\n", file);
    return 0;
  }
  Json runs = Json::array();
  for (std::size_t i = 0; i < landscapes.size(); ++i) {
    runs.push_back(json_of(options, landscapes[i], options.runs[i]));
  }
  fmt::print("{}\n", json_text({{"runs", std::move(runs)}, {"pictures", files}}, 2));
  return 0;
}

}  // namespace bitcycle::cli
