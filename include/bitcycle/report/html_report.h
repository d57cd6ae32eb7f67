#pragma once

// Runs as one HTML page that needs nothing else: no network, no files beside it. `bitcycle report`
// writes it, `bitcycle watch` serves it and keeps it current.

#include <filesystem>
#include <span>
#include <string>

namespace bitcycle {

// A run, and what the page calls it.
struct NamedRun {
  std::string name;
  std::filesystem::path directory;
};

// The page's data, as JSON text: a view of each run, and how they compare where there are several.
// What cannot be read is told on the page.
std::string report_data(std::span<const NamedRun> runs);

// The page, with its data in it.
std::string html_report(std::span<const NamedRun> runs);
// The page without data, which asks the server that it comes from.
std::string html_live_page();

}  // namespace bitcycle
