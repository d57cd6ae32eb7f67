#include "bitcycle/data/class_names.h"

#include "data/support.h"

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClassNamesTest : public testing::Test {
 protected:
  void add(const std::string& file, const std::string& text) { test::write(root_ / file, text); }
  std::vector<std::string> names(const std::string& dataset) {
    return class_names(dataset, root_.path());
  }
  TemporaryDirectory root_;
};

TEST_F(ClassNamesTest, OfAFolderAreItsSortedDirectories) {
  add("dog/1.jpg", "");
  add("Cat/1.jpg", "");
  add(".hidden/1.jpg", "");
  EXPECT_THAT(names("image_folder"), ElementsAre("Cat", "dog"));
  add("train/owl/1.jpg", "");
  EXPECT_THAT(names("image_folder"), ElementsAre("owl"));
}

TEST_F(ClassNamesTest, OfCifarStandBesideItsFiles) {
  add("cifar-10-batches-bin/test_batch.bin", "");
  EXPECT_THAT(names("cifar10"), IsEmpty());
  add("cifar-10-batches-bin/batches.meta.txt", "airplane\nautomobile\n\n");
  EXPECT_THAT(names("cifar10"), ElementsAre("airplane", "automobile"));
  add("cifar-100-binary/test.bin", "");
  add("cifar-100-binary/fine_label_names.txt", "apple\naquarium_fish\n");
  EXPECT_THAT(names("cifar100"), ElementsAre("apple", "aquarium_fish"));
}

TEST_F(ClassNamesTest, OfFashionMnistAreNotThoseOfSomebodysOwnPictures) {
  add("fashion-mnist/train-labels-idx1-ubyte", "");
  EXPECT_EQ(names("fashion_mnist").size(), 10u);
  EXPECT_EQ(names("fashion_mnist").back(), "Ankle boot");
  add("fashion-mnist/MD5SUMS", "");
  EXPECT_THAT(names("fashion_mnist"), IsEmpty());
}

TEST_F(ClassNamesTest, WithoutDataThereAreNone) {
  EXPECT_THAT(names("cifar10"), IsEmpty());
  EXPECT_THAT(names("synthetic"), IsEmpty());
  EXPECT_THAT(class_names("image_folder", root_ / "nowhere"), IsEmpty());
}

}  // namespace
}  // namespace bitcycle
