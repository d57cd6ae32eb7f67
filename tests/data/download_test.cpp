#include "bitcycle/data/download.h"

#include "bitcycle/data/catalog.h"

#include "data/checksum.h"
#include "data/loopback_server.h"
#include "data/part_file.h"
#include "data/small_archive.h"
#include "data/transfer.h"
#include "io/io_testing.h"

#include <cctype>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::expect_error;
using test::LoopbackServer;
using test::make_archive;
using test::small_cifar10;

class DownloadTest : public testing::Test {
 protected:
  fs::path get() const {
    return get_dataset("cifar10",
                       {.to = place_.path(), .url = server_.url(), .md5 = md5(archive_)});
  }
  fs::path get_with_sum(const std::string& sum) const {
    return get_dataset("cifar10", {.to = place_.path(), .url = server_.url(), .md5 = sum});
  }
  std::int64_t test_samples() const {
    return open_dataset({.name = "cifar10", .root = place_.path(), .split = Split::test})->size();
  }
  void serve(Bytes archive) {
    archive_ = std::move(archive);
    server_.behave({.content = archive_});
  }
  bool nothing_stands() const { return !fs::exists(target_) && !fs::exists(part_); }

  // Keeps a proxy of this machine out of it.
  test::Environment no_proxy_{"no_proxy", "*"};
  TemporaryDirectory place_;
  fs::path target_ = place_ / "cifar-10-batches-bin";
  fs::path part_ = place_ / "cifar-10-batches-bin.tar.gz.part";
  Bytes archive_ = make_archive(small_cifar10(20));
  LoopbackServer server_{{.content = archive_}};
};

TEST_F(DownloadTest, UnpacksAndLeavesOnlyTheDataset) {
  std::uint64_t last = 0;
  const fs::path directory =
      get_dataset("cifar10", {.to = place_.path(),
                              .url = server_.url(),
                              .md5 = md5(archive_),
                              .progress = [&](std::uint64_t done, std::uint64_t total) {
                                EXPECT_GE(done, last);
                                EXPECT_EQ(total, archive_.size());
                                last = done;
                              }});
  EXPECT_EQ(directory, target_);
  EXPECT_EQ(last, archive_.size());
  EXPECT_EQ(test_samples(), 20);
  EXPECT_TRUE(fs::exists(target_ / "readme.html"));
  EXPECT_EQ(std::distance(fs::directory_iterator(place_.path()), {}), 1);
}

TEST_F(DownloadTest, DoesNothingWhenTheDatasetStands) {
  get();
  get();
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(DownloadTest, ResumesWhereItWasCut) {
  server_.behave({.content = archive_, .cut_after = 1000});
  expect_error([&] { get(); }, ErrorCode::network,
               {server_.url(), "1000 bytes have arrived", "resumes"});
  EXPECT_FALSE(fs::exists(target_));
  server_.behave({.content = archive_});
  get();
  EXPECT_EQ(test_samples(), 20);
  EXPECT_EQ(server_.requests(), (std::vector<std::size_t>{0, 1000}));
}

TEST_F(DownloadTest, StartsAnewWhenTheServerCannotResume) {
  server_.behave({.content = archive_, .cut_after = 1000});
  EXPECT_THROW(get(), Error);
  server_.behave({.content = archive_, .ranges = false});
  get();
  EXPECT_EQ(test_samples(), 20);
}

TEST_F(DownloadTest, StartsAnewWhenThePartIsOfSomethingElse) {
  for (std::size_t size : {std::size_t{1000}, archive_.size(), archive_.size() + 1}) {
    fs::remove_all(target_);
    test::write(part_, Bytes(size));
    get();
    EXPECT_EQ(test_samples(), 20) << size;
  }
}

// Servers answer such a request with 416 and the true length, however often it is made.
TEST_F(DownloadTest, StartsAnewWhenThePartIsLongerThanTheArchive) {
  for (std::size_t more : {std::size_t{1}, std::size_t{5000}}) {
    fs::remove_all(target_);
    Bytes longer = archive_;
    longer.resize(archive_.size() + more);
    test::write(part_, longer);
    get();
    EXPECT_EQ(test_samples(), 20) << more;
  }
  EXPECT_EQ(server_.requests(),
            (std::vector<std::size_t>{archive_.size() + 1, 0, archive_.size() + 5000, 0}));
}

TEST_F(DownloadTest, APartLongerThanTheOfficialArchiveIsNotEvenRead) {
  test::write(part_, Bytes(10));
  fs::resize_file(part_, std::uintmax_t{1} << 40);  // sparse
  expect_error([&] { get_with_sum(""); }, ErrorCode::network, {"expected MD5"});
  EXPECT_EQ(server_.requests(), std::vector<std::size_t>{0});
}

// The length of the official archive is known.
TEST_F(DownloadTest, ABodyWithoutEndStopsAtTheExpectedSize) {
  server_.behave({.content = archive_, .endless = true});
  expect_error([&] { get_with_sum(""); }, ErrorCode::network,
               {server_.url(), "expected an archive of at most 170052171 bytes", "more", "--url"});
  EXPECT_LT(server_.sent(), std::size_t{190'000'000});
  EXPECT_TRUE(nothing_stands());
}

TEST_F(DownloadTest, WithoutALengthOrAnOfficialSizeABoundHolds) {
  server_.behave({.content = archive_, .endless = true});
  PartFile part(part_);
  expect_error(
      [&] {
        fetch({server_.url(), archive_.size() + 1000}, part, {});
      },
      ErrorCode::network, {"found more"});
  EXPECT_EQ(part.size(), 0u);
  EXPECT_LT(server_.sent(), std::size_t{20'000'000});
}

TEST_F(DownloadTest, ALengthThatIsNotTheOfficialOneIsRefusedAtOnce) {
  server_.behave({.content = Bytes(170'052'172)});
  expect_error([&] { get_with_sum(""); }, ErrorCode::network,
               {"expected an archive of at most 170052171 bytes"});
  EXPECT_LT(server_.sent(), std::size_t{20'000'000});
  EXPECT_TRUE(nothing_stands());
}

TEST_F(DownloadTest, ChecksumsMayBeInCapitals) {
  std::string sum = md5(archive_);
  for (char& c : sum) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  get_with_sum(sum);
  EXPECT_EQ(test_samples(), 20);
  EXPECT_EQ(server_.requests().size(), 1u);
}

TEST_F(DownloadTest, WhatIsNoChecksumIsRefusedBeforeTheDownload) {
  expect_error([&] { get_with_sum("sha256:abc"); }, ErrorCode::usage,
               {"--md5", "32 hexadecimal digits", "sha256:abc"});
  EXPECT_TRUE(server_.requests().empty());
  EXPECT_TRUE(nothing_stands());
}

TEST_F(DownloadTest, ACompletePartNeedsNoServer) {
  test::write(part_, archive_);
  get();
  EXPECT_TRUE(server_.requests().empty());
  EXPECT_EQ(test_samples(), 20);
}

TEST_F(DownloadTest, AWrongChecksumLeavesNothing) {
  const std::string other = md5({});
  expect_error([&] { get_with_sum(other); }, ErrorCode::network,
               {server_.url(), "expected MD5 " + other, "found " + md5(archive_)});
  EXPECT_TRUE(nothing_stands());
}

TEST_F(DownloadTest, WithoutASumTheOfficialOneCounts) {
  expect_error([&] { get_with_sum(""); }, ErrorCode::network,
               {"expected MD5 c32a1d4ab5d03f1284b67883e8d87530"});
}

TEST_F(DownloadTest, RefusalsAreNamed) {
  server_.behave({.content = {}, .status = 404});
  expect_error([&] { get(); }, ErrorCode::network, {server_.url(), "the server answered 404"});
  EXPECT_TRUE(nothing_stands());
  const auto get_from = [&](const std::string& url) {
    get_dataset("cifar10", {.to = place_.path(), .url = url});
  };
  expect_error([&] { get_from("http://127.0.0.1:1/x"); }, ErrorCode::network,
               {"127.0.0.1", "onnect"});
  expect_error([&] { get_from("ftp://127.0.0.1/x"); }, ErrorCode::network, {"ftp"});
}

TEST_F(DownloadTest, EntriesCannotLeaveTheirDirectory) {
  auto entries = small_cifar10(1);
  const Bytes evil = test::to_bytes({1});
  const fs::path outside = place_ / "evil";
  for (const std::string& path :
       std::vector<std::string>{"../evil", outside, "evil", "cifar-10-batches-bin/../evil",
                                "cifar-10-batches-bin/deep/evil"}) {
    entries.push_back({path, evil});
  }
  entries.push_back({"cifar-10-batches-bin/link", {}, "/etc/passwd"});
  serve(make_archive(entries));
  get();
  EXPECT_FALSE(fs::exists(outside));
  EXPECT_FALSE(fs::exists(place_.path().parent_path() / "evil"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(target_ / "link")));
  EXPECT_FALSE(fs::exists(target_ / "deep"));
}

TEST_F(DownloadTest, IncompleteOrDamagedArchivesDoNotBecomeDatasets) {
  auto entries = small_cifar10(1);
  entries.erase(entries.begin() + 2);
  serve(make_archive(entries));
  expect_error([&] { get(); }, ErrorCode::data, {"data_batch_3.bin is missing"});
  EXPECT_FALSE(fs::exists(target_));
  Bytes whole = make_archive(small_cifar10(5));
  whole.resize(whole.size() / 2);
  serve(whole);
  fs::remove(part_);
  expect_error([&] { get(); }, ErrorCode::data, {"a compressed tar archive"});
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(DownloadTest, ADamagedDatasetIsSetAside) {
  get();
  test::write(target_ / "data_batch_2.bin", Bytes(3073));
  get();
  EXPECT_EQ(test_samples(), 20);
  EXPECT_TRUE(fs::exists(place_ / "cifar-10-batches-bin.old"));
  test::write(target_ / "data_batch_2.bin", Bytes(3073));
  expect_error([&] { get(); }, ErrorCode::data, {"cifar-10-batches-bin.old is in the way"});
}

TEST_F(DownloadTest, WhatAKilledUnpackingLeftIsCleared) {
  test::write(place_ / ".cifar-10-batches-bin.unpacking/data_batch_1.bin", Bytes(10));
  get();
  EXPECT_EQ(std::distance(fs::directory_iterator(place_.path()), {}), 1);
}

TEST_F(DownloadTest, TwoDownloadsDoNotMeet) {
  const PartFile other(part_);
  expect_error([&] { get(); }, ErrorCode::io, {"another download"});
}

TEST_F(DownloadTest, AFullDiskIsNamed) {
  const FileSizeLimit limit(2000);
  expect_error([&] { get(); }, ErrorCode::io, {"cannot write", part_.string()});
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(DownloadTest, AnUnwritablePlaceIsNamed) {
  test::write(place_ / "file", "x");
  expect_error([&] { get_dataset("cifar10", {.to = place_ / "file" / "x", .url = server_.url()}); },
               ErrorCode::io, {(place_ / "file").string(), "--to"});
}

TEST_F(DownloadTest, OtherDatasetsSayHowToGetThem) {
  expect_error([&] { get_dataset("fashion_mnist", {.to = place_.path()}); }, ErrorCode::data,
               {"apt-get install dataset-fashion-mnist"});
  expect_error([&] { get_dataset("cifar-10", {.to = place_.path()}); }, ErrorCode::usage,
               {"Did you mean \"cifar10\"?"});
}

}  // namespace
}  // namespace bitcycle
