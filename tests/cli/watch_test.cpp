// What `bitcycle watch` shows, and to whom.

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "cli/watch/live_views.h"
#include "cli/watch/watch_server.h"
#include "cli/watch/watched_folder.h"
#include "io/temporary_directory.h"

#include <chrono>
#include <deque>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void make_run(const fs::path& directory, int step = 10) {
  fs::create_directories(directory);
  write_file(
      directory / "recipe.toml",
      "steps = 100\n[model]\nname = \"cifar_resnet8\"\n[precision]\nforward = 8\nbackward = 8\n");
  write_file(directory / "metrics.jsonl",
             "{\"type\":\"step\",\"step\":" + std::to_string(step) + ",\"loss\":2.5}\n{\"ty");
}

TEST(OwnHostTest, IsLocalhostOrAnAddressInNumbers) {
  for (const char* host : {"localhost", "localhost:6007", "127.0.0.1:6007", "127.0.0.1",
                           "[::1]:6007", "192.168.1.5:80", "LocalHost:1"}) {
    EXPECT_TRUE(is_own_host(host)) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:6007", "localhost.evil.example",
                           "127.0.0.1.evil.example", "[::1", "[evil]", "[::1].evil.example",
                           "[::1]x:80", "127.0.0.1:evil", "127.0.0.1evil", "LOCALHOST.x"}) {
    EXPECT_FALSE(is_own_host(host)) << host;
  }
}

TEST(WatchedFolderTest, FindsRunsInFoldersWithin) {
  const TemporaryDirectory folder;
  make_run(folder / "b");
  make_run(folder / "sweep/seed1");
  make_run(folder / "<script>alert(1)");
  fs::create_directories(folder / "empty");
  EXPECT_THAT(WatchedFolder(folder.path()).runs(),
              ElementsAre("<script>alert(1)", "b", "sweep/seed1"));
}

TEST(WatchedFolderTest, ARunThatWasDeletedIsGone) {
  const TemporaryDirectory place;
  make_run(place / "run");
  const WatchedFolder folder(place / "run");
  EXPECT_EQ(folder.list()[0]["state"], "stopped");
  fs::remove_all(place / "run");
  EXPECT_EQ(folder.list()[0]["state"], "gone");
}

TEST(WatchedFolderTest, HasNoRunsOutside) {
  const TemporaryDirectory place;
  make_run(place / "inside/run");
  make_run(place / "outside");
  fs::create_directory_symlink(place / "outside", place / "inside/link");
  const WatchedFolder folder(place / "inside");
  EXPECT_TRUE(folder.directory("run"));
  EXPECT_THAT(folder.runs(), ElementsAre("run"));
  const std::string absolute = (place / "outside").string();
  for (const std::string& name :
       {std::string("../outside"), std::string("run/../../outside"), absolute, std::string("link"),
        std::string(".."), std::string("."), std::string(""), std::string("run\0x", 5),
        std::string("run/."), std::string("nothing")}) {
    EXPECT_FALSE(folder.directory(name)) << name;
  }
}

TEST(WatchedFolderTest, NamesThatAreNotUtf8CanBeChosenAsTheListHasThem) {
  const TemporaryDirectory place;
  make_run(place / "run-\xff\n\x1b[31m");
  const WatchedFolder folder(place.path());
  const std::string shown =
      nlohmann::json::parse(json_text(folder.list()))[0]["name"].get<std::string>();
  EXPECT_EQ(shown, "run-\xef\xbf\xbd\n\x1b[31m");
  EXPECT_EQ(folder.directory(shown), fs::canonical(place / "run-\xff\n\x1b[31m"));
}

// A pipe would be waited for, and a device has no end.
TEST(WatchedFolderTest, PipesAndDevicesInPlaceOfFilesDoNotHoldItUp) {
  const TemporaryDirectory place;
  make_run(place / "run");
  for (const char* file : {"recipe.toml", "metrics.jsonl", "timing.jsonl", "layers.jsonl"}) {
    fs::remove(place / "run" / file);
    ASSERT_EQ(::mkfifo((place / "run" / file).c_str(), 0600), 0);
  }
  for (const char* file : {"summary.json", "evaluations.json"}) {
    fs::create_symlink("/dev/zero", place / "run" / file);
  }
  fs::create_directory(place / "run/landscape");
  ASSERT_EQ(::mkfifo((place / "run/landscape/pipe.json").c_str(), 0600), 0);
  const WatchedFolder folder(place.path());
  LiveViews views(folder);
  LivePage page(views, folder, {"run"});
  const std::string news = page.news();
  for (const char* file : {"recipe.toml", "metrics.jsonl", "timing.jsonl", "layers.jsonl",
                           "summary.json", "evaluations.json", "landscape/pipe.json"}) {
    EXPECT_THAT(news, HasSubstr(file + std::string(" cannot be read.")));
  }
}

TEST(WatchedFolderTest, ARunDirectoryIsAFolderOfOne) {
  const TemporaryDirectory place;
  make_run(place / "run");
  const WatchedFolder folder(place / "run");
  EXPECT_THAT(folder.runs(), ElementsAre("run"));
  EXPECT_EQ(folder.directory("run"), fs::canonical(place / "run"));
  EXPECT_FALSE(folder.directory("other"));
}

TEST(WatchedFolderTest, WhatIsNoFolderIsAUsersMistake) {
  EXPECT_THROW(WatchedFolder("/nonexistent"), Error);
}

TEST(WatchedFolderTest, TheListTellsHowFarRunsAre) {
  const TemporaryDirectory folder;
  make_run(folder / "run", 40);
  EXPECT_EQ(WatchedFolder(folder.path()).list().dump(),
            R"([{"name":"run","state":"stopped","step":40,"total":100}])");
  // The log of metrics may end with the test of an earlier step.
  write_file(folder / "run/timing.jsonl", "{\"step\":70,\"seconds\":1}\n");
  EXPECT_EQ(WatchedFolder(folder.path()).list()[0]["step"], 70);
}

TEST(WatchedFolderTest, ARunInEpochsHasATotalOnceAStepIsLogged) {
  const TemporaryDirectory folder;
  make_run(folder / "run");
  write_file(folder / "run/recipe.toml", "epochs = 3\n[model]\nname = \"cifar_resnet8\"\n");
  EXPECT_EQ(WatchedFolder(folder.path()).list()[0]["total"], 0);
  write_file(folder / "run/metrics.jsonl",
             "{\"type\":\"step\",\"step\":20,\"epoch\":0.5}\n"
             "{\"type\":\"evaluation\",\"step\":10}\n");
  EXPECT_EQ(WatchedFolder(folder.path()).list()[0]["total"], 120);  // 40 steps in an epoch
}

TEST(WatchServerTest, APortThatIsTakenIsAnError) {
  const TemporaryDirectory folder;
  const WatchServer first({.folder = folder.path(), .port = 0});
  EXPECT_THROW(WatchServer({.folder = folder.path(), .port = first.port()}), Error);
}

// A connection to a server on loopback, over which one request was sent.
class Asked {
 public:
  Asked(int port, const std::string& path) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 20};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(::send(socket_, request.data(), request.size(), 0), ssize_t(request.size()));
  }
  Asked(Asked&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~Asked() {
    if (socket_ != -1) ::close(socket_);
  }

  // What comes until `text` does, or nothing more.
  std::string answer_up_to(const std::string& text) const {
    std::string answer;
    char buffer[4096];
    while (answer.find(text) == std::string::npos) {
      const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      answer.append(buffer, static_cast<std::size_t>(count));
    }
    return answer;
  }

 private:
  int socket_;
};

TEST(WatchServerTest, AnswersWhileMorePagesAreOpenThanItKeepsCurrent) {
  const TemporaryDirectory folder;
  WatchServer server({.folder = folder.path(), .port = 0});
  std::thread serving([&] { server.serve(); });
  std::deque<Asked> pages;
  for (int i = 0; i < 70; ++i) {
    pages.emplace_back(server.port(), "/events");
    EXPECT_THAT(pages.back().answer_up_to("data: "),
                HasSubstr(i < 48 ? "event: list" : "event: full"));
  }
  // Connections that were kept open for more requests would take up the threads that are left.
  const std::string page = Asked(server.port(), "/").answer_up_to("<html");
  EXPECT_THAT(page, HasSubstr("200 OK"));
  EXPECT_THAT(page, HasSubstr("Connection: close"));
  const std::string refused = Asked(server.port(), "/events").answer_up_to("event: full");
  EXPECT_THAT(refused, HasSubstr("retry: "));
  EXPECT_THAT(refused, HasSubstr("event: full"));
  // A place is free again soon after a page was closed.
  pages.pop_front();
  std::string again;
  for (int tries = 0; tries < 20 && again.find("event: list") == std::string::npos; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    again = Asked(server.port(), "/events").answer_up_to("data: ");
  }
  EXPECT_THAT(again, HasSubstr("event: list"));
  server.stop();
  serving.join();
}

TEST(LivePageTest, TellsWhatHasChangedAndNothingElse) {
  const TemporaryDirectory place;
  make_run(place / "a");
  make_run(place / "b");
  const WatchedFolder folder(place.path());
  LiveViews views(folder);
  LivePage page(views, folder, {"a", "b"});
  const std::string first = page.news();
  EXPECT_THAT(first, HasSubstr("event: list\n"));
  EXPECT_THAT(first, HasSubstr("\"steps_done\":10"));
  EXPECT_THAT(page.news(), IsEmpty());
  make_run(place / "b", 20);
  const std::string second = page.news();
  EXPECT_THAT(second, HasSubstr("\"runs\":{\"1\":{"));
  EXPECT_THAT(second, Not(HasSubstr("\"0\":{")));
  EXPECT_THAT(second, HasSubstr("\"steps_done\":20"));
  fs::remove_all(place / "b");
  EXPECT_THAT(page.news(), HasSubstr("not there"));
}

}  // namespace
}  // namespace bitcycle::cli
