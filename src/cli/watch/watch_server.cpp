#include "cli/watch/watch_server.h"

#include "bitcycle/base/error.h"
#include "bitcycle/report/html_report.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <httplib.h>
#include <strings.h>

namespace bitcycle::cli {
namespace {

// Every open page holds a thread for its stream. Some are left to answer everybody else.
constexpr int kStreams = 48;
constexpr std::size_t kThreads = kStreams + 16;
constexpr std::size_t kMostRuns = 200;
// A comment line now and then finds out whether anybody is still there.
constexpr int kQuietLooks = 15;

void add_safety(httplib::Response& response) {
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Resource-Policy", "same-origin");
  response.set_header("Cache-Control", "no-store");
}

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", "text/plain; charset=utf-8");
}

std::vector<std::string> runs_of(const httplib::Request& request) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < request.get_param_value_count("run"); ++i) {
    runs.push_back(request.get_param_value("run", i));
  }
  return runs;
}

// A page beyond those that can be served is told so, and asks again by itself.
void turn_away(httplib::Response& response) {
  response.set_content("retry: 5000\nevent: full\ndata: " + std::to_string(kStreams) + "\n\n",
                       "text/event-stream");
}

bool is_address(const std::string& text) {
  in_addr four{};
  in6_addr six{};
  return ::inet_pton(AF_INET, text.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &six) == 1;
}

// ":6007", or nothing.
bool is_port(const std::string& text) {
  return text.empty() ||
         (text.front() == ':' && text.find_first_not_of("0123456789", 1) == std::string::npos);
}

}  // namespace

// A name or an address, one of version 6 in brackets, and a port or none.
bool is_own_host(const std::string& host_header) {
  const bool bracketed = host_header.starts_with('[');
  const std::size_t begin = bracketed ? 1 : 0;
  const std::size_t end = std::min(host_header.find(bracketed ? ']' : ':'), host_header.size());
  if (bracketed && end == host_header.size()) return false;
  const std::string name = host_header.substr(begin, end - begin);
  if (!is_port(host_header.substr(end + begin))) return false;
  return is_address(name) || (!bracketed && ::strcasecmp(name.c_str(), "localhost") == 0);
}

struct WatchServer::Implementation {
  explicit Implementation(const WatchOptions& given)
      : options(given), folder(given.folder), views(folder) {
    server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // The library's own options would let two servers share a port (SO_REUSEPORT).
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_payload_max_length(1024);
    // A page asks twice. A connection that is kept for a third request would hold a thread.
    server.set_keep_alive_max_count(1);
    server.set_pre_routing_handler([](const auto& request, auto& response) {
      add_safety(response);
      if (is_own_host(request.get_header_value("Host"))) {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      refuse(response, 403,
             "This address is served to localhost and to addresses as numbers alone.");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/", [](const auto&, auto& response) {
      static const std::string page = html_live_page();
      response.set_content(page, "text/html; charset=utf-8");
    });
    server.Get("/events",
               [this](const auto& request, auto& response) { stream(request, response); });
    bind();
  }

  void bind() {
    port = options.port == 0
               ? server.bind_to_any_port(options.host)
               : (server.bind_to_port(options.host, options.port) ? options.port : -1);
    if (port > 0) return;
    throw Error(ErrorCode::io, fmt::format("cannot listen at {}:{}", options.host, options.port),
                "Another program may have the port (--port chooses one, 0 any that is free), or "
                "this machine "
                "does not have the address.");
  }

  void stream(const httplib::Request& request, httplib::Response& response) {
    const std::vector<std::string> runs = runs_of(request);
    if (runs.size() > kMostRuns)
      return refuse(response, 400, "These are too many runs for a page.");
    for (const std::string& run : runs) {
      if (!folder.directory(run))
        return refuse(response, 404, "There is no such run in the folder.");
    }
    const std::shared_ptr<void> place = take_place();
    if (!place) return turn_away(response);
    auto live = std::make_shared<LivePage>(views, folder, runs);
    auto quiet = std::make_shared<int>(0);
    response.set_chunked_content_provider(
        "text/event-stream", [this, place, live, quiet](std::size_t, httplib::DataSink& sink) {
          std::string news = live->news();
          if (news.empty() && ++*quiet % kQuietLooks == 0) news = ": still here\n\n";
          if (!news.empty() && !sink.write(news.data(), news.size())) return false;
          std::this_thread::sleep_for(options.interval);
          return !stopped.load() && sink.is_writable();
        });
  }

  // One of the streams that can be open at a time, until the last copy is gone; null when all are.
  std::shared_ptr<void> take_place() {
    if (streams.fetch_add(1) >= kStreams) {
      streams.fetch_sub(1);
      return nullptr;
    }
    return {&streams, [](std::atomic<int>* open) { open->fetch_sub(1); }};
  }

  WatchOptions options;
  std::atomic<int> streams = 0;
  WatchedFolder folder;
  LiveViews views;
  httplib::Server server;
  int port = -1;
  std::atomic<bool> stopped = false;
};

WatchServer::WatchServer(const WatchOptions& options)
    : implementation_(std::make_unique<Implementation>(options)) {}
WatchServer::~WatchServer() = default;

int WatchServer::port() const {
  return implementation_->port;
}

void WatchServer::serve() {
  implementation_->server.listen_after_bind();
}

void WatchServer::stop() {
  implementation_->stopped = true;
  implementation_->server.stop();
}

}  // namespace bitcycle::cli
