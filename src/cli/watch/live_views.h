#pragma once

// The views of watched runs, made anew only when their files change. Shared by all who look.

#include "cli/watch/watched_folder.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

class LiveViews {
 public:
  explicit LiveViews(const WatchedFolder& folder) : folder_(folder) {}

  // A view, and a number that another view of the same run does not have. A run that is not there,
  // or not any more, has a view that says so.
  struct Version {
    std::uint64_t state = 0;
    std::shared_ptr<const nlohmann::ordered_json> view;
  };
  Version view(const std::string& run, std::size_t runs_shown);

 private:
  const WatchedFolder& folder_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::size_t>, Version> known_;
};

// What one page has been told, and what it has to be told next.
class LivePage {
 public:
  LivePage(LiveViews& views, const WatchedFolder& folder, std::vector<std::string> runs)
      : views_(views), folder_(folder), runs_(std::move(runs)) {}

  // Server-sent events for what has changed since the last call; empty when nothing has.
  std::string news();

 private:
  std::string list_news();
  std::string report_news();

  LiveViews& views_;
  const WatchedFolder& folder_;
  std::vector<std::string> runs_;
  std::vector<LiveViews::Version> told_;
  std::string told_list_;
};

}  // namespace bitcycle::cli
