// `bitcycle data` lists the datasets of this machine; `bitcycle data get NAME` downloads one.

#include "bitcycle/base/error.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/data/download.h"
#include "bitcycle/data/locate.h"
#include "bitcycle/data/text/corpus.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/picture_folder.h"
#include "report/printable.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace bitcycle::cli {
namespace {

struct ListOptions {
  std::string root;
  bool verify = false;
  bool all = false;
  bool json = false;
};

struct GetOptions {
  std::string name;
  std::string to;
  std::string url;
  std::string md5;
};

// A dataset and what is known of its state.
struct Entry {
  FoundDataset found;
  std::string state;    // found, intact (verified), incomplete, damaged, missing
  std::string problem;  // of a damaged one
  std::optional<PictureFolderCheck> pictures = {};  // of a verified folder of them
};

bool is_there(const Entry& entry) {
  return entry.state != "missing";
}

Entry examine_pictures(FoundDataset found) {
  PictureFolderCheck check = check_picture_folder(found.directory);
  const char* state = check.can_be_trained_on() ? "intact" : "damaged";
  return {std::move(found), state, "", std::move(check)};
}

Entry examine(FoundDataset found, bool verify) {
  if (found.directory.empty()) return {std::move(found), "missing", ""};
  if (!found.missing.empty()) return {std::move(found), "incomplete", ""};
  if (!verify) return {std::move(found), "found", ""};
  try {
    if (found.name == "image_folder") return examine_pictures(found);
    is_corpus(found.name) ? check_corpus(found.name, found.directory)
                          : check_dataset(found.name, found.directory);
    return {std::move(found), "intact", ""};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::memory) throw;  // says nothing of the files
    return {std::move(found), "damaged", error.what()};
  }
}

nlohmann::ordered_json to_json(const Entry& entry) {
  nlohmann::ordered_json json = {{"name", entry.found.name}, {"state", entry.state}};
  if (!entry.found.directory.empty()) json["directory"] = entry.found.directory.string();
  if (!entry.found.missing.empty()) json["missing_files"] = entry.found.missing;
  if (!entry.problem.empty()) json["problem"] = entry.problem;
  if (entry.pictures) json.update(picture_folder_json(*entry.pictures));
  if (!entry.found.cure.empty()) json["how_to_get"] = entry.found.cure;
  return json;
}

void print_json(const std::vector<Entry>& entries, const std::string& root) {
  nlohmann::ordered_json json;
  for (const auto& place : search_places(root)) json["places"].push_back(place.string());
  for (const Entry& entry : entries) json["datasets"].push_back(to_json(entry));
  fmt::print("{}\n", json_text(json, 2));
}

std::string detail(const Entry& entry) {
  if (entry.state == "missing") return entry.found.cure;
  const std::string where = entry.found.directory.string();
  if (entry.state == "incomplete") {
    return fmt::format("{} lacks {}. {}", where, entry.found.missing.front(), entry.found.cure);
  }
  return where;
}

// Below the table, where there is room for it.
std::string damage_text(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (entry.problem.empty()) continue;
    text += fmt::format("\nDamaged in {}:\n", entry.found.directory.string());
    std::istringstream problems(entry.problem);
    for (std::string problem; std::getline(problems, problem);) text += wrapped("  " + problem, 4);
  }
  return printable(text);
}

std::string pictures_text(const std::vector<Entry>& entries, Lists lists) {
  std::string text;
  for (const Entry& entry : entries) {
    if (!entry.pictures) continue;
    text += fmt::format("\nPictures in {}:\n", entry.found.directory.string()) +
            picture_folder_text(*entry.pictures, lists);
  }
  return text;
}

void print_table(const std::vector<Entry>& entries, const ListOptions& options) {
  // Who points to pictures does not ask for other datasets.
  const auto holds_pictures = [](const Entry& entry) { return entry.pictures.has_value(); };
  const bool pointed = !options.root.empty() && std::ranges::any_of(entries, holds_pictures);
  Table table({"dataset", "state", "where"});
  for (const Entry& entry : entries) {
    if (pointed && !is_there(entry)) continue;
    table.add_row({entry.found.name, entry.state, detail(entry)});
  }
  if (!pointed) table.add_row({"synthetic", "found", "made on the fly"});
  fmt::print("{}{}{}\nSearched:", table.text(), damage_text(entries),
             pictures_text(entries, options.all ? Lists::all : Lists::first));
  for (const auto& place : search_places(options.root)) fmt::print(" {}", place.string());
  fmt::print(
      "\nYour own pictures: dataset \"image_folder\" with data.root = DIR, which has\n"
      "DIR/CLASS/*.jpg (or .png), or the same below DIR/train and DIR/val. Your own text: dataset\n"
      "\"text\" with data.root = FILE, plain or gzipped (docs/data.md).\n");
}

// Who points to a place and asks for a check expects something to be there.
void require_something(const ListOptions& options, const std::vector<Entry>& entries) {
  if (options.root.empty() || !options.verify) return;
  if (std::ranges::any_of(entries, is_there)) return;
  throw Error(
      ErrorCode::data, "there is no dataset in \"" + options.root + "\"",
      "Your own pictures need DIR/CLASS/*.jpg, or DIR/train/CLASS/*.jpg and DIR/val/CLASS/*.jpg.");
}

int list(const ListOptions& options) {
  std::vector<Entry> entries;
  bool damage = false;
  for (FoundDataset& found : list_datasets(options.root)) {
    entries.push_back(examine(std::move(found), options.verify));
    damage = damage || entries.back().state == "damaged";
  }
  options.json ? print_json(entries, options.root) : print_table(entries, options);
  require_something(options, entries);
  return damage ? exit_status(ErrorCode::data) : 0;
}

// One line that redraws itself on a terminal; elsewhere a line every tenth of the way.
class DownloadProgress {
 public:
  ~DownloadProgress() {
    if (terminal_ && shown_ > 0) narrate("\n");
  }

  void show(std::uint64_t done, std::uint64_t total) {
    const std::uint64_t steps = terminal_ ? 1000 : 10;
    const std::uint64_t step = total > 0 ? done * steps / total : done / kMegabyte;
    if (step <= shown_) return;
    shown_ = step;
    narrate((terminal_ ? "\r" : "") + line(done, total) + (terminal_ ? "" : "\n"));
  }

 private:
  static constexpr std::uint64_t kMegabyte = 1'000'000;

  static std::string line(std::uint64_t done, std::uint64_t total) {
    constexpr std::uint64_t kWidth = 40;
    const auto megabytes = [](std::uint64_t n) { return static_cast<double>(n) / kMegabyte; };
    if (total == 0) return fmt::format("{:.1f} MB", megabytes(done));
    const std::string bar(static_cast<std::size_t>(done * kWidth / total), '#');
    return fmt::format("[{:-<{}}] {:3} %  {:.1f} of {:.1f} MB", bar, kWidth, done * 100 / total,
                       megabytes(done), megabytes(total));
  }

  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::uint64_t shown_ = 0;  // the step that was shown last
};

std::filesystem::path download(const GetOptions& options) {
  DownloadProgress progress;
  return get_dataset(
      options.name, {options.to, options.url, options.md5,
                     [&](std::uint64_t done, std::uint64_t total) { progress.show(done, total); }});
}

int get(const GetOptions& options) {
  fmt::print("{}\n", download(options).string());
  return 0;
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  CLI::App* data = app.add_subcommand("data", "List the datasets of this machine, or get one");
  const auto list_options = std::make_shared<ListOptions>();
  data->add_option("--root", list_options->root, "Look here instead of in the usual places");
  data->add_flag("--verify", list_options->verify, "Read every file and check it");
  data->add_flag("--all", list_options->all,
                 "With --verify, name every class and file of a folder of pictures");
  data->add_flag("--json", list_options->json, "Print JSON");

  CLI::App* getter = data->add_subcommand("get", "Download a dataset, check it and unpack it");
  const auto get_options = std::make_shared<GetOptions>();
  getter->add_option("name", get_options->name, "cifar10 or cifar100")->required();
  getter->add_option("--to", get_options->to, "Directory to unpack into (default: your data home)");
  getter->add_option("--url", get_options->url, "Take the archive from here");
  getter->add_option("--md5", get_options->md5, "Expected MD5 sum of the archive");
  data->footer(
      "Examples:\n"
      "  bitcycle data                               what is found, and how to get the rest\n"
      "  bitcycle data get cifar10                   download, check and unpack\n"
      "  bitcycle data --root pictures --verify      decode all pictures of your own\n"
      "\n"
      "docs/data.md says where datasets are looked for.");
  getter->footer(
      "Examples:\n"
      "  bitcycle data get cifar10\n"
      "  bitcycle data get cifar100 --to ~/datasets\n"
      "  bitcycle data get cifar10 --url file:///mnt/cifar-10-binary.tar.gz");

  data->callback([=, &action] {
    if (getter->parsed()) {
      action = [=] { return get(*get_options); };
    } else {
      action = [=] { return list(*list_options); };
    }
  });
}

}  // namespace bitcycle::cli
