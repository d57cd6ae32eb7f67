#include "data/pictures/image_folder.h"

#include "data/checksum.h"
#include "data/pictures.h"
#include "data/pictures/folder_scan.h"
#include "data/support.h"

#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::write;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ImageFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    add("train/dog/2.jpg", 20);
    add("train/dog/deeper/1.JPEG", 10);
    add("train/cat/b.jpg", 40);
    add("train/cat/a.jpeg", 30);
    add("val/dog/v.jpg", 50);
  }
  void add(const std::string& name, std::uint8_t grey) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {grey}));
  }
  ImageFolder open() const { return open_image_folder({root_.path()}); }

  TemporaryDirectory root_;
};

TEST_F(ImageFolderTest, ClassesAndFilesAreSorted) {
  const auto dataset = open().train;
  ASSERT_EQ(dataset->size(), 4);
  EXPECT_EQ(dataset->classes(), 2);
  const std::vector<int> greys = {30, 40, 20, 10};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(dataset->label(i), i / 2);
    EXPECT_NEAR(dataset->image(i).pixels[0], greys[static_cast<std::size_t>(i)], 2);
  }
  EXPECT_EQ(dataset->sample_name(3), "train/dog/deeper/1.JPEG");
}

TEST_F(ImageFolderTest, LinksInACircleAreSkippedAndNamed) {
  fs::create_directory_symlink(root_.path() / "train", root_.path() / "train/dog/up");
  fs::create_symlink("itself.jpg", root_.path() / "train/cat/itself.jpg");
  fs::create_directory_symlink(root_.path() / "val/dog", root_.path() / "train/dog/aside");
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 5);  // with the one beside it
  ASSERT_FALSE(folder.notices.empty());
  EXPECT_THAT(folder.notices[0], HasSubstr("train/cat/itself.jpg is a link that leads in a circle; "
                                           "train/dog/up is a link that leads in a circle"));
}

// Two links each way make paths whose number doubles with every link that is followed.
TEST_F(ImageFolderTest, LinksBetweenClassesBringEachDirectoryOnce) {
  const fs::path train = root_.path() / "train";
  for (const char* name : {"x", "y"}) {
    fs::create_directory_symlink("../dog", train / "cat" / name);
    fs::create_directory_symlink("../cat", train / "dog" / name);
  }
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 8);  // both classes' four pictures in each
  ASSERT_FALSE(folder.notices.empty());
  EXPECT_THAT(folder.notices[0],
              HasSubstr("train/cat/x/x is a link that leads in a circle; train/cat/x/y is a link "
                        "that leads in a circle; train/cat/y is read already, as train/cat/x"));
}

TEST_F(ImageFolderTest, LinksWithinAClassBringNothingTwice) {
  const fs::path dog = root_.path() / "train/dog";
  fs::create_directory_symlink("deeper", dog / "again");  // sorted before what it leads to
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 4);
  EXPECT_EQ(folder.train->sample_name(3), "train/dog/deeper/1.JPEG");
  ASSERT_FALSE(folder.notices.empty());
  EXPECT_THAT(folder.notices[0], HasSubstr("train/dog/again is read already, as train/dog/deeper"));
}

// Root may list everything, and is nobody for as long as this lives.
class AsNobody {
 public:
  AsNobody() : root_(::geteuid() == 0) {
    if (root_) root_ = ::seteuid(65534) == 0;
  }
  ~AsNobody() {
    if (root_ && ::seteuid(0) != 0) ADD_FAILURE() << "root is nobody for good";
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool root_;
};

TEST_F(ImageFolderTest, DirectoriesThatCannotBeListedAreNamed) {
  fs::permissions(root_.path(), fs::perms(0755));
  const fs::path locked = root_.path() / "train/dog/deeper";
  fs::permissions(locked, fs::perms::none);
  {
    const AsNobody nobody;
    expect_error([&] { open(); }, ErrorCode::data,
                 {locked.string() + " cannot be listed: Permission denied", "chmod"});
  }
  fs::permissions(locked, fs::perms(0755));
}

TEST_F(ImageFolderTest, LinksToNowhereAndPipesWithNamesOfPicturesAreSkippedAndNamed) {
  fs::create_symlink("nothing.jpg", root_.path() / "train/cat/lost.jpg");
  fs::create_symlink("nothing.txt", root_.path() / "train/cat/lost.txt");
  ASSERT_EQ(mkfifo((root_.path() / "train/dog/pipe.png").c_str(), 0600), 0);
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 4);
  ASSERT_FALSE(folder.notices.empty());
  EXPECT_THAT(folder.notices[0], HasSubstr("train/cat/lost.jpg is a link to nowhere; "
                                           "train/dog/pipe.png is a pipe"));
}

TEST_F(ImageFolderTest, TestPicturesUseTheNumbersOfTrain) {
  const ImageFolder folder = open();
  ASSERT_EQ(folder.test->size(), 1);
  EXPECT_EQ(folder.test->classes(), 2);
  EXPECT_EQ(folder.test->label(0), 1);
  EXPECT_EQ(folder.validation, nullptr);
  EXPECT_FALSE(folder.balanced);
  EXPECT_THAT(folder.notices, ElementsAre(HasSubstr("no pictures of 1 class: cat")));
}

TEST_F(ImageFolderTest, WithAllThreeDirectoriesEachIsWhatItSays) {
  add("test/cat/t.jpg", 60);
  add("test/dog/t.jpg", 70);
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 4);
  EXPECT_EQ(folder.validation->sample_name(0), "val/dog/v.jpg");
  EXPECT_EQ(folder.test->size(), 2);
}

TEST_F(ImageFolderTest, PngsAmongThemAreRead) {
  write(root_ / "train/cat/c.PNG", test::png({}, {7, 8, 9}));
  write(root_ / "train/cat/jpeg-by-name.jpg", test::png({}, {17, 18, 19}));
  const auto dataset = open().train;
  ASSERT_EQ(dataset->size(), 6);
  EXPECT_EQ(dataset->image(2).pixels, (std::vector<std::uint8_t>{7, 8, 9}));
  EXPECT_EQ(dataset->image(3).pixels, (std::vector<std::uint8_t>{17, 18, 19}));
}

TEST_F(ImageFolderTest, StraysAreSkippedAndNamed) {
  const auto clean = open().train->fingerprint();
  write(root_ / "train/cat/.hidden.jpg", test::flat_jpeg(8, 8, {1}));
  write(root_ / "train/cat/notes.txt", "not a picture");
  write(root_ / "train/dog/empty.jpg", "");
  write(root_ / "train/dog/moving.gif", "GIF89a");
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 4);
  EXPECT_THAT(folder.damaged, IsEmpty());
  EXPECT_EQ(folder.train->fingerprint(), clean);
  ASSERT_FALSE(folder.notices.empty());
  for (const char* text : {"train: 4 files are skipped: ", "train/cat/.hidden.jpg is hidden",
                           "train/cat/notes.txt is no picture", "train/dog/empty.jpg is empty",
                           "train/dog/moving.gif is a GIF picture"}) {
    EXPECT_THAT(folder.notices.front(), HasSubstr(text));
  }
}

TEST_F(ImageFolderTest, DamagedEmptyAndAbsurdPicturesAreSkipped) {
  const test::Bytes whole = test::noisy_jpeg(32, 32);
  write(root_ / "train/cat/cut.jpeg", test::Bytes(whole.begin(), whole.end() - 200));
  write(root_ / "train/cat/bomb.png", test::png_claiming(30'000, 30'000));
  write(root_ / "train/cat/nothing.png", test::png_claiming(0, 0));
  write(root_ / "train/cat/line.jpeg", test::flat_jpeg(6500, 100, {9}));
  const ImageFolder folder = open();
  EXPECT_EQ(folder.train->size(), 4);
  EXPECT_EQ(folder.damaged.size(), 4u);
  for (const char* text :
       {"train/cat/cut.jpeg is damaged", "30000 x 30000", "nothing.png", "6500 x 100"}) {
    EXPECT_THAT(folder.notices.front(), HasSubstr(text));
  }
}

TEST_F(ImageFolderTest, ManyStraysMakeNoWallOfText) {
  for (int i = 0; i < 1000; ++i) {
    write(root_ / ("train/cat/" + std::to_string(i) + ".txt"), "words");
  }
  EXPECT_THAT(open().notices.front(),
              testing::AllOf(HasSubstr("1000 files are skipped"), HasSubstr("and 995 more")));
  EXPECT_LT(open().notices.front().size(), 600u);
}

TEST_F(ImageFolderTest, OrientationsAreCounted) {
  write(root_ / "train/cat/t.jpg", test::with_orientation(test::flat_jpeg(8, 8, {1}), 6));
  EXPECT_THAT(open().notices.front(), testing::AllOf(HasSubstr("1 picture has an EXIF orientation"),
                                                     HasSubstr("-auto-orient")));
}

TEST_F(ImageFolderTest, UnknownClassesAreNamed) {
  add("val/dot/x.jpg", 1);
  expect_error([&] { open(); }, ErrorCode::data, {"val/dot", "2 classes", "Did you mean \"dog\"?"});
}

TEST_F(ImageFolderTest, MissingPartsAreNamed) {
  fs::create_directories(root_ / "train/emu");
  write(root_ / "train/emu/readme", "no bird here");
  expect_error([&] { open(); }, ErrorCode::data,
               {"train has no pictures of 1 class: emu", "train/emu/readme is no picture"});
  fs::remove_all(root_ / "train/emu");
  fs::remove_all(root_ / "val/dog");
  expect_error([&] { open(); }, ErrorCode::data, {"val has no class directories"});
  fs::rename(root_ / "train", root_ / "training");
  expect_error([&] { open(); }, ErrorCode::data, {"expected train/", "found training/"});
  const TemporaryDirectory bare;
  expect_error([&] { open_image_folder({bare.path()}); }, ErrorCode::data,
               {"has no class directories", "<class>/*.jpg"});
  expect_error([&] { open_image_folder({bare / "nowhere"}); }, ErrorCode::data,
               {"nowhere is not a directory"});
}

TEST_F(ImageFolderTest, PartsUnderOtherNamesAreNoClasses) {
  add("validation/dog/x.jpg", 60);
  EXPECT_THAT(open().notices,
              testing::Not(testing::Contains(HasSubstr("validation/"))));  // there is val/
  std::filesystem::remove_all(root_.path() / "val");
  EXPECT_THAT(open().notices, testing::Contains(HasSubstr("validation/ is not read: is it val/")));
  std::filesystem::rename(root_.path() / "train", root_.path() / "Training");
  EXPECT_THROW(open(), Error);
}

TEST_F(ImageFolderTest, OneClassIsNothingToTellApart) {
  fs::remove_all(root_ / "train/dog");
  expect_error([&] { open(); }, ErrorCode::data, {"one class only, \"cat\""});
}

TEST_F(ImageFolderTest, ClassesThatDifferInCaseAreTold) {
  add("train/Dog/1.jpg", 10);
  EXPECT_THAT(open().notices.front(), HasSubstr("\"Dog\" and \"dog\" differ in case alone"));
}

TEST_F(ImageFolderTest, ListedSumsFindEveryFlippedBit) {
  const test::Bytes picture = test::noisy_jpeg(32, 32);
  write(root_ / "train/cat/a.jpeg", picture);
  write(root_ / "MD5SUMS", md5(picture) + "  train/cat/a.jpeg\n");
  EXPECT_NO_THROW(open().train->image(0));
  test::Bytes flipped = picture;
  flipped[flipped.size() / 2] ^= std::byte{1};
  write(root_ / "train/cat/a.jpeg", flipped);
  expect_error([&] { open().train->image(0); }, ErrorCode::data, {"a.jpeg is damaged", "MD5"});
  write(root_ / "train/cat/a.jpeg", "cut to pieces");
  expect_error([&] { open(); }, ErrorCode::data, {"a.jpeg is damaged", "MD5"});
}

TEST(FolderScanTest, FewPicturesAreDecodedAndManyAreNot) {
  EXPECT_EQ(look_for(300, 40'000'000), Look::whole);
  EXPECT_EQ(look_for(300, 4'000'000'000), Look::start);
  EXPECT_EQ(look_for(1'281'167, 0), Look::name);
}

// Pictures without val/ and test/, in class directories that stand alone.
class SplitFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 20; ++i) add("cat", i);
    for (int i = 0; i < 40; ++i) add("dog", i);
  }
  void add(const std::string& name, int i) {
    write(root_ / name / (std::to_string(i) + ".png"),
          test::png({}, {static_cast<std::uint8_t>(i), 0, 0}));
  }
  ImageFolder open(std::uint64_t seed = 1, double test = 0.2) const {
    return open_image_folder({root_.path(), test, RandomKey(seed)});
  }
  static std::set<std::string> names(const Dataset& dataset) {
    std::set<std::string> all;
    for (std::int64_t i = 0; i < dataset.size(); ++i) all.insert(dataset.sample_name(i));
    return all;
  }
  static std::vector<int> counts(const Dataset& dataset) {
    std::vector<int> by_class(static_cast<std::size_t>(dataset.classes()));
    for (std::int64_t i = 0; i < dataset.size(); ++i) {
      ++by_class[static_cast<std::size_t>(dataset.label(i))];
    }
    return by_class;
  }

  TemporaryDirectory root_;
};

TEST_F(SplitFolderTest, EveryClassGivesItsShareToTheTest) {
  const ImageFolder folder = open();
  EXPECT_THAT(counts(*folder.test), ElementsAre(4, 8));
  EXPECT_THAT(counts(*folder.train), ElementsAre(16, 32));
  std::set<std::string> all = names(*folder.train);
  all.merge(names(*folder.test));
  EXPECT_EQ(all.size(), 60u);
  EXPECT_TRUE(folder.balanced);
  EXPECT_THAT(folder.notices, ElementsAre(HasSubstr("12 of 60 pictures are tested on")));
}

TEST_F(SplitFolderTest, SeedAndNamesDecide) {
  EXPECT_EQ(names(*open(1).test), names(*open(1).test));
  EXPECT_NE(names(*open(1).test), names(*open(2).test));
  const TemporaryDirectory moved;
  fs::copy(root_.path(), moved / "there", fs::copy_options::recursive);
  EXPECT_EQ(names(*open_image_folder({moved / "there", 0.2, RandomKey(1)}).test),
            names(*open(1).test));
}

TEST_F(SplitFolderTest, AnAddedPictureMovesAtMostOneOther) {
  const auto before = names(*open().test);
  for (int i = 100; i < 110; ++i) {
    const auto old = names(*open().test);
    add("dog", i);
    int lost = 0;
    const auto now = names(*open().test);
    for (const std::string& name : old) lost += now.contains(name) ? 0 : 1;
    EXPECT_LE(lost, 1);
  }
  int kept = 0;
  for (const std::string& name : names(*open().test)) kept += before.contains(name) ? 1 : 0;
  EXPECT_GE(kept, 8);
}

TEST_F(SplitFolderTest, SmallClassesKeepOneToTrainOn) {
  add("emu", 0);
  add("fox", 0);
  add("fox", 1);
  const ImageFolder folder = open(1, 0.9);
  EXPECT_THAT(counts(*folder.train), ElementsAre(2, 4, 1, 1));
  EXPECT_THAT(counts(*folder.test), ElementsAre(18, 36, 0, 1));
}

TEST_F(SplitFolderTest, NothingToTestOnIsAnError) {
  expect_error([&] { open(1, 0); }, ErrorCode::data,
               {"nothing to test on", "neither val/ nor test/", "data.test = 0"});
}

}  // namespace
}  // namespace bitcycle
