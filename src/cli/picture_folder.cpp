#include "cli/picture_folder.h"

#include "bitcycle/report/narration.h"
#include "bitcycle/report/table.h"

#include "report/printable.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;
using Directory = PictureFolderCheck::Directory;

constexpr std::size_t kFirst = 10;

std::size_t shown_of(std::size_t count, Lists lists) {
  return lists == Lists::all ? count : std::min(count, kFirst);
}

std::string more_text(std::size_t more, const char* what) {
  return more == 0 ? "" : fmt::format("  and {} more{}; --all names them\n", more, what);
}

std::int64_t total(const Directory& directory) {
  return std::accumulate(directory.pictures.begin(), directory.pictures.end(), std::int64_t{0});
}

std::string class_table(const PictureFolderCheck& check, Lists lists) {
  std::vector<std::string> titles = {"class"}, sums = {"all"};
  for (const Directory& directory : check.directories) {
    titles.push_back(directory.name.empty() ? "pictures" : directory.name + "/");
    sums.push_back(std::to_string(total(directory)));
  }
  Table table(titles);
  const std::size_t shown = shown_of(check.classes.size(), lists);
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {check.classes[i]};
    for (const Directory& directory : check.directories) {
      row.push_back(std::to_string(directory.pictures[i]));
    }
    table.add_row(row);
  }
  table.add_row(sums);
  const std::size_t hidden = check.classes.size() - shown;
  return table.text() + more_text(hidden, hidden == 1 ? " class" : " classes");
}

std::string file_list(const char* title, const std::vector<std::string>& files, Lists lists) {
  if (files.empty()) return "";
  std::string text =
      fmt::format("\n{}: {} {}\n", title, files.size(), files.size() == 1 ? "file" : "files");
  const std::size_t shown = shown_of(files.size(), lists);
  for (std::size_t i = 0; i < shown; ++i) text += wrapped("  " + printable_line(files[i]), 4);
  return text + more_text(files.size() - shown, "");
}

std::string empty_classes_text(const PictureFolderCheck& check) {
  const std::vector<std::string> empty = check.empty_classes();
  if (empty.empty()) return "";
  return "\n" + wrapped(fmt::format("Without pictures: {}. Add some, or remove the directories.",
                                    fmt::join(empty, ", ")),
                        2);
}

}  // namespace

std::string picture_folder_text(const PictureFolderCheck& check, Lists lists) {
  return printable(class_table(check, lists) + empty_classes_text(check) +
                   file_list("Damaged", check.damaged, lists) +
                   file_list("Skipped, as they are no pictures of a class", check.skipped, lists));
}

Json picture_folder_json(const PictureFolderCheck& check) {
  Json counts = Json::object();
  for (const Directory& directory : check.directories) {
    for (std::size_t i = 0; i < check.classes.size(); ++i) {
      counts[check.classes[i]][directory.name.empty() ? "pictures" : directory.name] =
          directory.pictures[i];
    }
  }
  return {{"classes", counts},
          {"without_pictures", check.empty_classes()},
          {"damaged", check.damaged},
          {"skipped", check.skipped}};
}

}  // namespace bitcycle::cli
